/** Of Home. */
export const home = {
  sent: 'Messages sent',
  rate: 'Delivery rate',
  attention: 'Needs attention',
  nothing: 'Nothing does.',
  first: 'First steps',
} as const
