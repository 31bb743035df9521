/** All that is known of one span. */
import { useQuery } from "@tanstack/react-query";
import { answer, api } from "../../api/client";
import { moment, time } from "../../lib/format";
import { Button, Card, Fact, Facts, Trouble, Waiting } from "../../ui/parts";
import { levelName } from "./bands";

interface Props {
  trace: string;
  span: string;
  onShow: (from: number, to: number) => void;
  onSelect: (span: string | null) => void;
}

export function SpanFacts({ trace, span, onShow, onSelect }: Props) {
  const found = useQuery({
    queryKey: ["span", trace, span],
    queryFn: () =>
      answer(api.GET("/api/v1/traces/{identity}/spans/{span}", { params: { path: { identity: trace, span } } })),
    staleTime: Infinity,
  });
  if (found.error) return <Trouble error={found.error} />;
  if (!found.data) return <Waiting />;
  const { name, level, attributes, around, below, start_ns, end_ns, spent_ns } = found.data;
  return (
    <Card
      title={<span className="[overflow-wrap:anywhere]">{name}</span>}
      aside={
        <span className="flex gap-2">
          <Button onClick={() => onShow(start_ns, end_ns)}>Zoom to it</Button>
          <Button aria-label="Close" onClick={() => onSelect(null)}>
            ✕
          </Button>
        </span>
      }
    >
      {around.length > 0 && (
        <nav aria-label="What it lies in" className="mb-3 flex flex-wrap items-center gap-1 text-sm text-muted">
          {around.map((each) => (
            <span key={each.id}>
              <button type="button" className="text-accent hover:underline" onClick={() => onSelect(each.id)}>
                {each.name}
              </button>{" "}
              ›
            </span>
          ))}
        </nav>
      )}
      <Facts>
        <Fact name="Level">{levelName(level)}</Fact>
        <Fact name="Duration">{time(spent_ns)}</Fact>
        <Fact name="Begins">{moment(start_ns)}</Fact>
        <Fact name="Spans in it">{below}</Fact>
        {Object.entries(attributes).map(([key, value]) => (
          <Fact key={key} name={key.replaceAll("_", " ")}>
            {spelled(key, value)}
          </Fact>
        ))}
      </Facts>
    </Card>
  );
}

/** Shapes as people write them; everything else as it is. */
export function spelled(key: string, value: unknown): string {
  if (Array.isArray(value) && value.every((each) => Array.isArray(each)))
    return value.map((shape: unknown[]) => shape.join("×") || "scalar").join(", ");
  if (Array.isArray(value)) return value.join(key === "grid" || key === "block" ? "×" : ", ");
  if (typeof value === "number") return key.endsWith("_ns") ? time(value) : value.toLocaleString("en");
  return typeof value === "string" ? value : JSON.stringify(value);
}
