/** Names of operations and resources in the TypeScript client, shared with the samples. */

/** `webhook_endpoints` as `webhookEndpoints`. */
export const camelCase = (name: string): string =>
  name.replaceAll(/_([a-z0-9])/g, (_match, letter: string) => letter.toUpperCase())

/** `webhook_endpoints` as `WebhookEndpoints`. */
export const pascalCase = (name: string): string => camelCase(`_${name}`)
