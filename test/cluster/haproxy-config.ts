export interface HaproxyServer {
  name: string
  /** The address host:port in the network of the cluster. */
  address: string
  weight?: number
  /** Configures the server as disabled, which HAProxy shows as maintenance. */
  disabled?: boolean
}

export interface HaproxyBackend {
  name: string
  servers: HaproxyServer[]
}

export interface HaproxyConfig {
  /** The port of the frontend in the network of the cluster. */
  port: number
  /** The backends. The first one gets the traffic; the others can be named on the sockets. */
  backends: HaproxyBackend[]
  /** Sends health checks to /healthz every second. Off by default, so that a wrong server shows as failures. */
  checks?: boolean
  /** A file with the state of the servers, read at the start. Deployments keep a drain over a reload with it. */
  stateFile?: string
  /** The sockets at level admin: one for the recorder, and one for the test. */
  sockets: string[]
  /** A socket at level operator, which can only look. */
  operatorSocket?: string
}

export function haproxyConfig(config: HaproxyConfig): string {
  const lines = [
    'global',
    ...config.sockets.map((path) => `  stats socket ${path} mode 600 level admin expose-fd listeners`),
    ...(config.operatorSocket === undefined ? [] : [`  stats socket ${config.operatorSocket} mode 600 level operator`]),
    '  stats timeout 1h',
    '  maxconn 4000',
    ...(config.stateFile === undefined ? [] : [`  server-state-file ${config.stateFile}`]),
    'defaults',
    '  mode http',
    // A failed request must be counted as failed.
    '  retries 0',
    '  no option redispatch',
    '  timeout connect 1s',
    '  timeout queue 1s',
    '  timeout server 30s',
    // The timeout is far above the idle time after which the traffic generator closes a connection. A connection that HAProxy closes at the
    // moment of its reuse would look like a failed request.
    '  timeout client 60s',
    '  timeout http-keep-alive 60s',
    ...(config.stateFile === undefined ? [] : ['  load-server-state-from-file global']),
    'frontend front',
    `  bind 127.0.0.1:${config.port}`,
    `  default_backend ${config.backends[0]?.name}`,
    ...config.backends.flatMap((backend) => backendLines(backend, config.checks === true)),
  ]
  return `${lines.join('\n')}\n`
}

function backendLines({ name, servers }: HaproxyBackend, checks: boolean): string[] {
  return [
    `backend ${name}`,
    '  balance roundrobin',
    // A test may choose the pod of a request. The rule uses an expression, since a server that is named in a rule cannot be deleted.
    '  use-server %[req.hdr(x-server)] if { req.hdr(x-server) -m found }',
    ...(checks ? ['  option httpchk GET /healthz', '  default-server check inter 1s fall 1 rise 1'] : []),
    ...servers.map(
      ({ name: server, address, weight, disabled }) =>
        `  server ${server} ${address}${weight === undefined ? '' : ` weight ${weight}`}${disabled === true ? ' disabled' : ''}`,
    ),
  ]
}
