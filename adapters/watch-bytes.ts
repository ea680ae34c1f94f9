/** Checks the right to send on the connected socket, right before the bytes of an HTTP request leave. */
import type { ClientRequest } from 'node:http'
import type { Socket } from 'node:net'
import type { Call } from './contract.ts'

/** The progress of one call on the wire. */
export interface Flight {
  /** True once bytes may have left. */
  sent: boolean
  /** The error that `assertLive` threw. */
  lost?: { error: unknown }
}

export type WatchBytes = (request: ClientRequest, call: Pick<Call, 'assertLive'>, flight: Flight) => void

/**
 * HTTP clients have no hook on the connected socket, so this code uses the socket events of Node. Node gives the socket right before it
 * writes the request, and this code corks a new socket until it is connected, so that no bytes leave earlier.
 */
export function createByteWatch({ isSecure }: { isSecure: boolean }): WatchBytes {
  /** Sockets with a complete handshake. */
  const opened = new WeakSet<Socket>()

  return (request, call, flight) => {
    function leave(): boolean {
      try {
        call.assertLive()
        flight.sent = true
      } catch (error) {
        flight.lost = { error }
        request.destroy(new Error('not sent'))
      }
      return flight.sent
    }
    request.once('socket', (socket) => {
      if (opened.has(socket)) return void leave()
      socket.cork()
      socket.once(isSecure ? 'secureConnect' : 'connect', () => {
        opened.add(socket)
        if (leave()) socket.uncork()
      })
    })
  }
}
