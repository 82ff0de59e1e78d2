/** The code with which a provider explains itself. */

/** As text, whatever a provider's code calls one; null where it gives none, which an empty one is too. */
export const providerCodeOf = (told: unknown): string | null =>
  (typeof told === 'string' && told.trim() !== '') || typeof told === 'number' ? String(told) : null
