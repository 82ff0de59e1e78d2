/** Settings that are wrong together: each is fine by itself (behaviour: configuration 1). */

type Given = Readonly<Record<string, unknown>>

/** A line for each problem. */
export const problemsTogether = (values: Given): string[] => [
  ...sharedKeywords(values),
  ...halfBucket(values),
  ...halfStripe(values),
  ...halfOidc(values),
  ...deliveriesWithoutEvents(values),
]

/** A word in two lists would mean two things. */
function sharedKeywords(values: Given): string[] {
  const names = ['POSTHORN_OPT_OUT_KEYWORDS', 'POSTHORN_OPT_IN_KEYWORDS', 'POSTHORN_HELP_KEYWORDS'] as const
  const wordsOf = (name: string) => (values[name] as readonly string[] | undefined) ?? []
  return names.flatMap((name, i) =>
    wordsOf(name).flatMap((word) => {
      const other = names.slice(0, i).find((before) => wordsOf(before).includes(word))
      return other === undefined ? [] : [`${name} must not have a word that ${other} has too; both have ${JSON.stringify(word)}.`]
    }),
  )
}

/** A bucket and its key come together. */
function halfBucket(values: Given): string[] {
  const names = ['POSTHORN_MEDIA_S3_URL', 'POSTHORN_MEDIA_S3_KEY_ID', 'POSTHORN_MEDIA_S3_SECRET']
  const absent = names.filter((name) => values[name] === undefined)
  return absent.length === 0 || absent.length === names.length ? [] : [`${absent.join(' and ')} must be set too: a bucket and its key come together.`]
}

/** The key that begins a payment and the secret that proves it come together. */
function halfStripe(values: Given): string[] {
  const names = ['POSTHORN_STRIPE_SECRET_KEY', 'POSTHORN_STRIPE_WEBHOOK_SECRET']
  const absent = names.filter((name) => values[name] === undefined)
  return absent.length === 1 ? [`${absent[0]} must be set too: without it payments would be begun and never credited.`] : []
}

/** The provider and the client there come together. */
function halfOidc(values: Given): string[] {
  const names = ['POSTHORN_OIDC_ISSUER', 'POSTHORN_OIDC_CLIENT_ID', 'POSTHORN_OIDC_CLIENT_SECRET']
  const absent = names.filter((name) => values[name] === undefined)
  return absent.length === 0 || absent.length === names.length
    ? []
    : [`${absent.join(' and ')} must be set too: a provider and the client there come together.`]
}

/** What a delivery brings is its event. */
function deliveriesWithoutEvents({ POSTHORN_DELIVERY_RETENTION_DAYS: deliveries, POSTHORN_EVENT_RETENTION_DAYS: events }: Given): string[] {
  return typeof deliveries === 'number' && typeof events === 'number' && deliveries > events
    ? [`POSTHORN_DELIVERY_RETENTION_DAYS must be at most POSTHORN_EVENT_RETENTION_DAYS, for a delivery is of an event; they are ${deliveries} and ${events}.`]
    : []
}
