export interface HaproxyServer {
  name: string
  /** host:port inside the cluster's network */
  address: string
  weight?: number
  /** Configured as disabled, which HAProxy shows as maintenance. */
  disabled?: boolean
}

export interface HaproxyBackend {
  name: string
  servers: HaproxyServer[]
}

export interface HaproxyConfig {
  /** The frontend's port inside the cluster's network. */
  port: number
  /** The first one gets the traffic; the others can be named on the sockets. */
  backends: HaproxyBackend[]
  /** Sends health checks to /healthz every second; off by default, so that a wrong server shows as failures. */
  checks?: boolean
  /** A file with the servers' state, read at the start: how deployments keep a drain over a reload. */
  stateFile?: string
  /** Sockets at level admin: one for the recorder, one for the test itself. */
  sockets: string[]
  /** A socket that may only look: at level operator. */
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
    // A request that fails must be seen to fail.
    '  retries 0',
    '  no option redispatch',
    '  timeout connect 1s',
    '  timeout queue 1s',
    '  timeout server 30s',
    // Far above the idle time after which the traffic generator drops a connection by itself: a
    // connection closed by HAProxy at the moment it is used again would look like a failed request.
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
    // A test may choose the pod of a request of its own. By an expression: what is named in a rule cannot be deleted.
    '  use-server %[req.hdr(x-server)] if { req.hdr(x-server) -m found }',
    ...(checks ? ['  option httpchk GET /healthz', '  default-server check inter 1s fall 1 rise 1'] : []),
    ...servers.map(
      ({ name: server, address, weight, disabled }) =>
        `  server ${server} ${address}${weight === undefined ? '' : ` weight ${weight}`}${disabled === true ? ' disabled' : ''}`,
    ),
  ]
}
