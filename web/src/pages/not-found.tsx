import { Link } from "@tanstack/react-router";
import { Heading } from "../ui/parts";

export function NotFound() {
  return (
    <Heading
      title="There is no such page"
      about={
        <>
          Perhaps it is among the <Link to="/models">models</Link> or the <Link to="/evaluations">evaluations</Link>.
        </>
      }
    />
  );
}
