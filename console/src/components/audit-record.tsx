import { differences } from "../live/differences.ts";
import type { Audited } from "../pages/audit.tsx";
import { useWords } from "../use-words.ts";

/** What an act changed, field by field. */
export function AuditRecord({
  record,
  onClose,
}: {
  readonly record: Audited;
  readonly onClose: () => void;
}) {
  const { t, time } = useWords();
  const rows = differences(record.before, record.after);
  return (
    <section className="card stack-tight" data-testid="record">
      <div className="row">
        <h2 style={{ flex: 1 }}>
          <span className="mono">{record.action}</span> · {record.subject}
        </h2>
        <button type="button" className="tool" onClick={onClose}>
          {t("audit.close")}
        </button>
      </div>
      <p>{t("audit.who", { actor: record.actor, time: time(record.at) })}</p>
      <p>{record.reason}</p>
      <table className="before-after">
        <thead>
          <tr>
            <th scope="col">{t("audit.field")}</th>
            <th scope="col">{t("stock.before")}</th>
            <th scope="col">{t("stock.after")}</th>
          </tr>
        </thead>
        <tbody>
          {rows.map(({ field, before, after }) => (
            <tr key={field} className={before === after ? "" : "moves"}>
              <th scope="row" className="mono">
                {field}
              </th>
              <td>{before}</td>
              <td>{after}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}
