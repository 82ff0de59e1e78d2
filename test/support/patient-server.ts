/** HTTP servers that never close idle connections. */
import { createServer, type RequestListener, type Server } from 'node:http'

/** A default server closes idle connections after seconds, which loses answers if the process was stopped meanwhile. */
export const patientServer = (listener: RequestListener): Server => createServer({ keepAliveTimeout: 0 }, listener)
