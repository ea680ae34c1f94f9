import { z } from 'zod'

/** The maximum length of the path of a unix socket in Linux. */
const LONGEST_SOCKET_PATH = 107
/** The characters that HAProxy allows in the name of a backend or a server. */
const HAPROXY_NAME = /^[A-Za-z0-9_.:-]+$/

const HOST_PORT = /^(\[[0-9a-fA-F:.]+\]|[A-Za-z0-9_.-]+):([1-9]\d{0,4})$/

/** The address of a stats socket. */
export type SocketAddress = { path: string } | { host: string; port: number }

export function isHaproxyName(name: string): boolean {
  return HAPROXY_NAME.test(name)
}

/** Parses `/path`, `host:port` or `[v6]:port`. Undefined for any other text. */
export function parseSocketAddress(text: string): SocketAddress | undefined {
  if (text.startsWith('/')) {
    const isPath = Buffer.byteLength(text) <= LONGEST_SOCKET_PATH && !text.includes('\0')
    return isPath ? { path: text } : undefined
  }
  const [, host, port] = HOST_PORT.exec(text) ?? []
  if (host === undefined || Number(port) > 65_535) return undefined
  return { host: host.replace(/^\[|\]$/g, ''), port: Number(port) }
}

/** The value for a message, shortened. */
function show(input: unknown): string {
  const text = String(input)
  return JSON.stringify(text.length > 60 ? `${text.slice(0, 59)}…` : text)
}

const socketAddress = z
  .string()
  .refine((text) => parseSocketAddress(text) !== undefined, {
    error: ({ input }) =>
      `${show(input)} is no address of a socket\nwrite /path of a unix socket, at most ${LONGEST_SOCKET_PATH} bytes, or host:port`,
  })
  .describe('The stats socket, with level admin: /path or host:port.')

function twice(sockets: readonly string[]): string | undefined {
  return sockets.find((socket, index) => sockets.indexOf(socket) < index)
}

export const haproxyOptions = z
  .strictObject({
    socket: socketAddress.optional(),
    sockets: z
      .array(socketAddress)
      .min(1)
      .refine((sockets) => twice(sockets) === undefined, {
        error: ({ input }) => `names ${show(twice(input as string[]))} twice\nname each socket once`,
      })
      .describe('Several HAProxy instances that serve the same pods: each pod is drained in all of them.')
      .optional(),
    master: socketAddress
      .describe('The socket of the master process (haproxy -S), to count what old workers still serve after a reload.')
      .optional(),
    backend: z
      .string()
      .regex(HAPROXY_NAME, {
        error: ({ input }) => `${show(input)} cannot be the name of a backend\nuse letters, digits and any of _ . : -`,
      })
      .describe('The backend whose servers are the pods.'),
  })
  .refine(({ socket, sockets }) => (socket === undefined) !== (sockets === undefined), {
    error: ({ input }) =>
      (input as { socket?: unknown }).socket === undefined
        ? 'needs either socket or sockets\nwrite socket: for one HAProxy, sockets: with a list for several'
        : 'has both socket and sockets\nkeep socket for one HAProxy, sockets for several',
  })
  .refine(
    ({ socket, master }) => master === undefined || socket !== undefined,
    'master goes with socket, not with sockets\nremove master, or name the one HAProxy with socket',
  )

export type HaproxyOptions = z.infer<typeof haproxyOptions>
