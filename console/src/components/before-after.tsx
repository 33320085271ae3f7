import type { Balances } from "../live/stock-change.ts";
import { useWords } from "../use-words.ts";

const lines = ["available", "reserved", "sold", "frozen", "lost", "total"] as const;

type BeforeAfterProps = {
  readonly before: Balances;
  readonly after: Balances;
  /** Where it is not about a change: what the two columns are. */
  readonly titles?: { readonly before: string; readonly after: string };
};

/** The numbers before and after, bucket by bucket; what moves stands out. */
export function BeforeAfter({ before, after, titles }: BeforeAfterProps) {
  const { t, number, change } = useWords();
  return (
    <table className="before-after">
      <thead>
        <tr>
          <th scope="col">{t("stock.bucket")}</th>
          <th scope="col">{titles?.before ?? t("stock.before")}</th>
          <th scope="col">{titles?.after ?? t("stock.after")}</th>
          <th scope="col">{t("stock.difference")}</th>
        </tr>
      </thead>
      <tbody>
        {lines.map((name) => {
          const moves = before[name] !== after[name];
          return (
            <tr key={name} className={moves ? "moves" : ""}>
              <th scope="row">{t(`bucket.${name}`)}</th>
              <td>{number(before[name])}</td>
              <td>{number(after[name])}</td>
              <td>{moves ? change(after[name] - before[name]) : ""}</td>
            </tr>
          );
        })}
      </tbody>
    </table>
  );
}
