/** HTTP servers of tests that end no kept connection by themselves. */
import { createServer, type RequestListener, type Server } from 'node:http'

/**
 * A server that leaves it to its clients when a connection ends that nothing is asked on. By default a server ends it after a few seconds, also one on which it has just been asked while the
 * process stood still: the answer that a client awaits is then lost.
 */
export const patientServer = (listener: RequestListener): Server => createServer({ keepAliveTimeout: 0 }, listener)
