interface Port {
  name?: string
  port?: number
  protocol?: string
  appProtocol?: string
}

/** Equal exactly where the sets of ports are. */
export function endpointPortsDigest(ports: readonly Port[]): string {
  return ports
    .map(({ name = '', port, protocol, appProtocol }) => JSON.stringify([name, port, protocol, appProtocol]))
    .sort()
    .join()
}
