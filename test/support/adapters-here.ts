/**
 * The contract suites run on the embedded adapters in one project, and on those of real servers
 * in another: the project says which.
 */
export function adaptersHere<A extends { readonly name: string }>(all: readonly A[]): A[] {
  const wanted = process.env["HOLDFAST_TEST_ADAPTERS"] ?? "memory";
  return all.filter(({ name }) => name.startsWith(wanted));
}
