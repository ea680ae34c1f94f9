import { parseListenAddress } from '../../server/listen-address.ts'

/** The address of `--metrics-listen`, with the certificate of the server. */
export interface MetricsAddress {
  listen: string
  tls?: { certFile: string; keyFile: string }
}

export interface MetricsFlags {
  metricsListen?: string
  metricsCert?: string
  metricsKey?: string
}

/** Returns the address, or undefined where none is given. Adds the mistakes of the flags to `problems`. */
export function metricsAddress(
  { metricsListen: listen, metricsCert: certFile, metricsKey: keyFile }: MetricsFlags,
  problems: string[],
): MetricsAddress | undefined {
  if ((certFile === undefined) !== (keyFile === undefined)) problems.push('--metrics-cert and --metrics-key go together')
  if (listen === undefined) {
    if (certFile !== undefined || keyFile !== undefined) problems.push('--metrics-cert and --metrics-key need --metrics-listen')
    return undefined
  }
  try {
    parseListenAddress(listen)
  } catch (error) {
    problems.push(`--metrics-listen: ${(error as Error).message}`)
  }
  return { listen, ...(certFile !== undefined && keyFile !== undefined && { tls: { certFile, keyFile } }) }
}
