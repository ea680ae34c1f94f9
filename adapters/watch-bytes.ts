/** Asks, on the connected socket, right before the bytes of an HTTP request leave, whether they still may. */
import type { ClientRequest } from 'node:http'
import type { Socket } from 'node:net'
import type { Call } from './contract.ts'

/** The one line of the call's fate. */
export interface Flight {
  /** Bytes may have left. */
  sent: boolean
  /** What `assertLive` threw. */
  lost?: { error: unknown }
}

export type WatchBytes = (request: ClientRequest, call: Pick<Call, 'assertLive'>, flight: Flight) => void

/**
 * HTTP clients have no hook on the connected socket. This has: Node hands the socket over right before it writes the request, and a new
 * socket is corked until it is connected, so that nothing is written ahead.
 */
export function createByteWatch({ isSecure }: { isSecure: boolean }): WatchBytes {
  /** Sockets that are through their handshake. */
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
