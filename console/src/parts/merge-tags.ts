/** Merge tags: what a message says for each recipient. */

const tag = /\{\{\s*([^{}\s]+)\s*\}\}/g

/** Those that a message has, each once. */
export const mergeTagsIn = (message: unknown): string[] => [
  ...new Set([...JSON.stringify(message ?? '').matchAll(tag)].map(([, name]) => name!)),
]
