/** What options must be like: wrong ones are told as such, before anything is sent or waited for. */

/** The options. Throws a `TypeError` where their times and counts are none. */
export function waits<T extends { readonly timeoutMs?: number | undefined; readonly maxRetries?: number | undefined }>(
  options: T,
): T {
  if (typeof options !== 'object' || options === null) throw new TypeError('the options must be an object')
  if (options.timeoutMs !== undefined) atLeast('timeoutMs', options.timeoutMs, 1)
  if (options.maxRetries !== undefined) atLeast('maxRetries', options.maxRetries, 0)
  return options
}

/** Throws a `TypeError` on anything but a number that is `least` or more. */
export function atLeast(name: string, value: number, least: number): void {
  if (typeof value !== 'number' || !(value >= least))
    throw new TypeError(`${name} must be a number, ${least} or more, not ${String(value)}`)
}

/** The value of a header. Throws a `TypeError` where no request can carry it; the value itself is not told, for it may be a key. */
export function sendable(name: string, text: string): string {
  if (!/^[\t\x20-\x7e\x80-\xff]*$/.test(text)) throw new TypeError(`${name} has characters that no header can carry`)
  return text
}
