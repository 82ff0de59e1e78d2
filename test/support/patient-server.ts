/** HTTP servers for tests that never close idle connections. */
import { createServer, type RequestListener, type Server } from 'node:http'

/**
 * By default a server closes idle connections after seconds, and answers are lost if the process was stopped meanwhile.
 */
export const patientServer = (listener: RequestListener): Server => createServer({ keepAliveTimeout: 0 }, listener)
