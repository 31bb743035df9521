/** A job that is open: it is followed from now on, and the browser may tell when it ends, once it was asked. */
import { useEffect, useState } from "react";
import { follow } from "../lib/jobs";
import { Button } from "../ui/parts";
import { useMe } from "../ui/shell";

export function Notify({ id, owner, open }: { id: string; owner: string; open: boolean }) {
  const me = useMe().data?.owner;
  const isMine = open && me === owner;
  const [permission, setPermission] = useState(() => ("Notification" in window ? Notification.permission : "denied"));
  useEffect(() => {
    if (isMine) follow(id);
  }, [id, isMine]);
  if (!isMine || permission === "denied") return null;
  if (permission === "granted") return <p className="text-xs text-muted">The browser tells you when it ends.</p>;
  return (
    <Button onClick={() => void Notification.requestPermission().then(setPermission)}>Notify me when it ends</Button>
  );
}
