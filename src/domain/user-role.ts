/** What somebody may do at the console, each more than the one before. */
export const userRoles = ["viewer", "operator", "admin"] as const;
export type UserRole = (typeof userRoles)[number];

export function isUserRole(text: string): text is UserRole {
  return userRoles.some((role) => role === text);
}

export function roleCovers(role: UserRole, needed: UserRole): boolean {
  return userRoles.indexOf(role) >= userRoles.indexOf(needed);
}
