/** Turns what sockets, TLS and the HTTP parser throw into a code and a sentence that an engineer can act on. */

export type PostErrorCode =
  | 'dns_failed'
  | 'tls_failed'
  | 'connection_refused'
  | 'connection_reset'
  | 'host_unreachable'
  | 'timeout'
  | 'redirect'
  | 'response_invalid'
  | 'address_not_public'
  | 'aborted'
  | `status_${number}`

export interface PostError {
  readonly code: PostErrorCode
  /** One or two sentences. */
  readonly message: string
}

const tlsCodes =
  /^(ERR_TLS|ERR_SSL|CERT_|DEPTH_ZERO_|SELF_SIGNED_|UNABLE_TO_|HOSTNAME_MISMATCH|EPROTO|INVALID_CA|INVALID_PURPOSE|PATH_LENGTH)/
const dnsCodes = /^(ENOTFOUND|EAI_|ENODATA|ESERVFAIL|EREFUSED|EBADNAME|ENONAME)/

/** The error of an exchange that got no complete answer. */
export function postErrorOf(error: unknown): PostError {
  const cause = error instanceof AggregateError && error.errors.length > 0 ? (error.errors[0] as unknown) : error
  if (hasPostError(cause)) return cause.postError
  const text = cause instanceof Error ? cause.message : String(cause)
  const code = cause instanceof Error && 'code' in cause && typeof cause.code === 'string' ? cause.code : ''
  if (isLookup(cause) || dnsCodes.test(code))
    return { code: 'dns_failed', message: `The host name could not be resolved (${code || text}).` }
  if (tlsCodes.test(code) || text.includes('before secure TLS connection'))
    return { code: 'tls_failed', message: `The TLS handshake failed: ${text.slice(0, 300)} (${code}).` }
  // what the client says of 100 Continue
  if (text === 'bad response')
    return {
      code: 'response_invalid',
      message: 'The receiver answered 100 Continue, which nothing asked for, instead of a final status.',
    }
  if (code === 'ECONNREFUSED')
    return { code: 'connection_refused', message: 'Nothing accepts connections at this host and port.' }
  if (code === 'UND_ERR_CONNECT_TIMEOUT' || code === 'ETIMEDOUT')
    return { code: 'timeout', message: 'The connection could not be opened in time.' }
  if (/^(EHOSTUNREACH|ENETUNREACH|EADDRNOTAVAIL|EHOSTDOWN|ENETDOWN)$/.test(code))
    return { code: 'host_unreachable', message: `No route leads to the host (${code}).` }
  if (
    /^(HPE_|UND_ERR_HEADERS_OVERFLOW|UND_ERR_RES_|UND_ERR_NOT_SUPPORTED|ERR_ASSERTION)/.test(code) ||
    text.includes('bad upgrade') ||
    (cause instanceof Error && cause.name === 'HTTPParserError')
  ) {
    return {
      code: 'response_invalid',
      message: `The answer is not valid HTTP (${text.split('\n', 1)[0]!.slice(0, 200)}).`,
    }
  }
  if (/^(ECONNRESET|EPIPE|UND_ERR_SOCKET|ECONNABORTED)$/.test(code))
    return { code: 'connection_reset', message: 'The receiver closed the connection before its answer was complete.' }
  return {
    code: 'connection_reset',
    message: `The exchange broke off: ${text.slice(0, 300)}${code === '' ? '' : ` (${code})`}.`,
  }
}

const hasPostError = (error: unknown): error is { postError: PostError } =>
  typeof error === 'object' && error !== null && 'postError' in error
const isLookup = (error: unknown): boolean =>
  typeof error === 'object' && error !== null && 'lookup' in error && error.lookup === true
