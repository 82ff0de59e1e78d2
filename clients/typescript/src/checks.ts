/** Validates options and headers before anything is sent. */

/** Throws a `TypeError` for invalid times or counts. */
export function waits<T extends { readonly timeoutMs?: number | undefined; readonly maxRetries?: number | undefined }>(
  options: T,
): T {
  if (typeof options !== 'object' || options === null) throw new TypeError('the options must be an object')
  if (options.timeoutMs !== undefined) atLeast('timeoutMs', options.timeoutMs, 1)
  if (options.maxRetries !== undefined) atLeast('maxRetries', options.maxRetries, 0)
  return options
}

/** Throws a `TypeError` unless the value is a number of at least `least`. */
export function atLeast(name: string, value: number, least: number): void {
  if (typeof value !== 'number' || !(value >= least))
    throw new TypeError(`${name} must be a number, ${least} or more, not ${String(value)}`)
}

/**
 * Throws a `TypeError` if the value cannot be sent in a header. The message does not contain the value, which may be
 * a key.
 */
export function sendable(name: string, text: string): string {
  if (!/^[\t\x20-\x7e\x80-\xff]*$/.test(text)) throw new TypeError(`${name} has characters that no header can carry`)
  return text
}
