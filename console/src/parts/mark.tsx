/** A state in a word, with a dot in its colour before it: the word alone tells it too. */

export type MarkKind = 'good' | 'waiting' | 'busy' | 'bad' | 'off'

export const Mark = ({ kind, children }: { kind: MarkKind; children: string }) => (
  <span className={`mark mark-${kind}`}>{children}</span>
)
