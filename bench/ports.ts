/** Waits for a local server to listen. */
import { once } from 'node:events'
import { connect } from 'node:net'

export async function reachable(port: number): Promise<void> {
  for (let tries = 0; tries < 200; tries++) {
    const socket = connect(port, '127.0.0.1')
    const found = await once(socket, 'connect').then(
      () => true,
      () => false,
    )
    socket.destroy()
    if (found) return
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
  throw new Error(`nothing listens on the port ${port} after ten seconds`)
}
