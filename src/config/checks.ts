/** Checks combinations of settings (behaviour: configuration 1). */

type Given = Readonly<Record<string, unknown>>
/** One line per problem. A setting in `misread` has its own error. */
export function combinationProblems(values: Given, misread: ReadonlySet<string>): string[] {
  const incomplete = requiredTogether.flatMap(({ names, why }) => {
    const absent = names.filter((name) => values[name] === undefined && !misread.has(name))
    return absent.length === 0 || absent.length === names.length
      ? []
      : [`${absent.join(' and ')} must be set too: ${why}.`]
  })
  return [...sharedKeywords(values), ...incomplete, ...deliveriesWithoutEvents(values)]
}

const requiredTogether: readonly { readonly names: readonly string[]; readonly why: string }[] = [
  {
    names: ['POSTHORN_MEDIA_S3_URL', 'POSTHORN_MEDIA_S3_KEY_ID', 'POSTHORN_MEDIA_S3_SECRET'],
    why: 'a bucket and its key belong together',
  },
  {
    names: ['POSTHORN_STRIPE_SECRET_KEY', 'POSTHORN_STRIPE_WEBHOOK_SECRET'],
    why: 'without it payments would be begun and never credited',
  },
  {
    names: ['POSTHORN_OIDC_ISSUER', 'POSTHORN_OIDC_CLIENT_ID', 'POSTHORN_OIDC_CLIENT_SECRET'],
    why: 'a provider and the client there belong together',
  },
]

/** A word in two lists would be ambiguous. */
function sharedKeywords(values: Given): string[] {
  const names = ['POSTHORN_OPT_OUT_KEYWORDS', 'POSTHORN_OPT_IN_KEYWORDS', 'POSTHORN_HELP_KEYWORDS'] as const
  const wordsOf = (name: string) => (values[name] as readonly string[] | undefined) ?? []
  return names.flatMap((name, i) =>
    wordsOf(name).flatMap((word) => {
      const other = names.slice(0, i).find((before) => wordsOf(before).includes(word))
      return other === undefined
        ? []
        : [`${name} must not have a word that ${other} has too; both have ${JSON.stringify(word)}.`]
    }),
  )
}

/** A delivery is shown with its event. */
function deliveriesWithoutEvents({
  POSTHORN_DELIVERY_RETENTION_DAYS: deliveries,
  POSTHORN_EVENT_RETENTION_DAYS: events,
}: Given): string[] {
  return typeof deliveries === 'number' && typeof events === 'number' && deliveries > events
    ? [
        `POSTHORN_DELIVERY_RETENTION_DAYS must be at most POSTHORN_EVENT_RETENTION_DAYS, for a delivery is of an event; they are ${deliveries} and ${events}.`,
      ]
    : []
}
