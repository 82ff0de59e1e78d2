/** Settings that are wrong together: each is fine by itself (behaviour: configuration 1). */

type Given = Readonly<Record<string, unknown>>
type IsAbsent = (name: string) => boolean

/** A line for each problem. A setting of `misread` is given, and what is wrong with it is told by itself. */
export function problemsTogether(values: Given, misread: ReadonlySet<string>): string[] {
  const isAbsent: IsAbsent = (name) => values[name] === undefined && !misread.has(name)
  return [...sharedKeywords(values), ...halfBucket(isAbsent), ...halfStripe(isAbsent), ...halfOidc(isAbsent), ...deliveriesWithoutEvents(values)]
}

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
function halfBucket(isAbsent: IsAbsent): string[] {
  const names = ['POSTHORN_MEDIA_S3_URL', 'POSTHORN_MEDIA_S3_KEY_ID', 'POSTHORN_MEDIA_S3_SECRET']
  const absent = names.filter(isAbsent)
  return absent.length === 0 || absent.length === names.length ? [] : [`${absent.join(' and ')} must be set too: a bucket and its key come together.`]
}

/** The key that begins a payment and the secret that proves it come together. */
function halfStripe(isAbsent: IsAbsent): string[] {
  const names = ['POSTHORN_STRIPE_SECRET_KEY', 'POSTHORN_STRIPE_WEBHOOK_SECRET']
  const absent = names.filter(isAbsent)
  return absent.length === 1 ? [`${absent[0]} must be set too: without it payments would be begun and never credited.`] : []
}

/** The provider and the client there come together. */
function halfOidc(isAbsent: IsAbsent): string[] {
  const names = ['POSTHORN_OIDC_ISSUER', 'POSTHORN_OIDC_CLIENT_ID', 'POSTHORN_OIDC_CLIENT_SECRET']
  const absent = names.filter(isAbsent)
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
