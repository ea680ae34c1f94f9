interface Port {
  name?: string
  port?: number
  protocol?: string
  appProtocol?: string
}

/** Returns a text that is equal for equal sets of ports, and for no others. */
export function endpointPortsDigest(ports: readonly Port[]): string {
  return ports
    .map(({ name = '', port, protocol, appProtocol }) => JSON.stringify([name, port, protocol, appProtocol]))
    .sort()
    .join()
}
