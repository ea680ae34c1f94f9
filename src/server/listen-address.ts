import { ServerError } from './server-error.ts'

export interface ListenAddress {
  /** The host. Absent for all addresses, those of IPv6 included. */
  host?: string
  /** The port. 0 stands for a free one. */
  port: number
}

const ADDRESS = /^(?:\[([0-9a-fA-F:.]+)\]|([A-Za-z0-9_.-]*)):(\d{1,5})$/

/** @throws ServerError `listen-address-invalid` */
export function parseListenAddress(listen: string): ListenAddress {
  const [, v6, name, port] = ADDRESS.exec(listen) ?? []
  if (port === undefined || Number(port) > 65_535) throw new ServerError({ code: 'listen-address-invalid', listen })
  const host = v6 ?? name
  return { ...(host === undefined || host === '' ? {} : { host }), port: Number(port) }
}
