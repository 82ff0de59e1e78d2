/** Whether an endpoint was subscribed when an event was committed: what had been committed before is not for it. */

/** The moment from which on an endpoint receives events. */
export interface Since {
  /** Of the snapshot's xmax, as positions of events are: the epoch above 48 bits of transaction id. */
  readonly position: string
  /** What had been committed, as PostgreSQL writes a `pg_snapshot`: `xmin:xmax:xid,…`. */
  readonly snapshot: string
}

/** The bits of a position that hold the transaction id. */
const epochShift = 48n
const transactionMask = (1n << epochShift) - 1n

/** Whether an event of this position was committed after the snapshot was taken. */
export function isLater(event_position: string, since: Since): boolean {
  const [event, from] = [BigInt(event_position), BigInt(since.position)]
  if (event >= from) return true
  if (event >> epochShift < from >> epochShift) return false
  return !isVisible(event & transactionMask, since.snapshot)
}

function isVisible(transaction: bigint, snapshot: string): boolean {
  const [xmin, xmax, running] = snapshot.split(':') as [string, string, string]
  if (transaction < BigInt(xmin)) return true
  if (transaction >= BigInt(xmax)) return false
  return !running.split(',').includes(String(transaction))
}
