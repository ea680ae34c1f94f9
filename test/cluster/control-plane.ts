import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { auditFile, auditPolicy } from './audit.ts'
import { insideApiAddress, nodeAddress } from './cluster-info.ts'
import type { ClusterInfo } from './cluster-info.ts'
import { lastLines, startDaemon } from './daemon.ts'
import { waitFor } from './kube-api.ts'
import type { KubeApi } from './kube-api.ts'
import { kubeconfigText } from './kubeconfig.ts'
import { enter } from './namespace.ts'
import { runCommand } from './run-command.ts'

export interface ControlPlaneOptions {
  /** The silence of the node after which its pods are not ready. By default, the value of Kubernetes. */
  nodeMonitorGracePeriodMs?: number
  /**
   * True where programs in pods talk to the API server, and the API server to them: each pod has the token of its ServiceAccount, the
   * Service `kubernetes` leads to the API server, and webhooks in pods are reached by their Service. There is no kube-proxy.
   */
  inCluster?: boolean
}

/** The first address of the range of Services. */
const kubernetesService = '10.96.0.1'
const securePort = insideApiAddress.split(':')[1]!
const etcdAddress = 'http://127.0.0.1:2379'

/** Starts etcd and the API server. */
export async function startApiServer(info: ClusterInfo, kubernetes: string, options: ControlPlaneOptions): Promise<void> {
  const certs = join(info.dir, 'certs')
  await mkdir(certs, { recursive: true })
  await runCommand(join(info.tools, 'cluster-init'), ['certs', certs, '127.0.0.1', nodeAddress, kubernetesService])
  await writeFile(join(info.dir, 'audit-policy.json'), JSON.stringify(auditPolicy))
  await writeFile(tokenFile(info), info.identities.map(tokenLine).join(''))
  await writeFile(insideKubeconfig(info), await kubeconfigText(info, 'admin', 'inside'))
  await writeFile(hostKubeconfig(info), await kubeconfigText(info, 'admin', 'host'))

  await startDaemon(info, 'etcd', join(kubernetes, 'etcd'), [
    '--data-dir',
    join(info.dir, 'etcd'),
    '--unsafe-no-fsync',
    '--log-level',
    'warn',
    '--listen-client-urls',
    etcdAddress,
    '--advertise-client-urls',
    etcdAddress,
    '--listen-peer-urls',
    'http://127.0.0.1:2380',
  ])
  await startDaemon(info, 'kube-apiserver', join(kubernetes, 'kube-apiserver'), apiServerArguments(info, certs, options))
  if (options.inCluster === true) await routeToApiServer(info)
}

/** Does for the Service `kubernetes` what kube-proxy would. */
async function routeToApiServer(info: ClusterInfo): Promise<void> {
  const rule = [
    '-d',
    kubernetesService,
    '-p',
    'tcp',
    '--dport',
    '443',
    '-j',
    'DNAT',
    '--to-destination',
    `${nodeAddress}:${securePort}`,
  ]
  await runCommand(...enter(info, 'network', 'iptables', ['-t', 'nat', '-A', 'PREROUTING', ...rule]))
}

/** Starts the controllers. The API server has to answer before: the controllers wait for it, but give up after ten seconds. */
export async function startControllers(info: ClusterInfo, kubernetes: string, options: ControlPlaneOptions): Promise<void> {
  const manager = join(kubernetes, 'kube-controller-manager')
  await startDaemon(info, 'kube-controller-manager', manager, controllerManagerArguments(info, options))
  await startDaemon(info, 'kube-scheduler', join(kubernetes, 'kube-scheduler'), clientArguments(info))
}

export async function waitForApi(info: ClusterInfo, api: KubeApi): Promise<void> {
  try {
    await waitFor(
      'the API server',
      () => api.request('GET', '/readyz'),
      (text) => text === 'ok',
      { intervalMs: 50 },
    )
    await waitFor(
      'the default namespace',
      () => api.get('Namespace', 'default'),
      () => true,
      { intervalMs: 50 },
    )
  } catch (cause) {
    throw new Error(`the API server did not come up:\n${await lastLines(info, 'kube-apiserver')}`, { cause })
  }
}

export function insideKubeconfig(info: ClusterInfo): string {
  return join(info.dir, 'admin.inside.kubeconfig')
}

export function hostKubeconfig(info: ClusterInfo): string {
  return join(info.dir, 'admin.kubeconfig')
}

function tokenFile(info: ClusterInfo): string {
  return join(info.dir, 'tokens.csv')
}

function tokenLine({ user, groups, token }: ClusterInfo['identities'][number]): string {
  return `${token},${user},${user}${groups.length > 0 ? `,"${groups.join(',')}"` : ''}\n`
}

function apiServerArguments(info: ClusterInfo, certs: string, { inCluster = false }: ControlPlaneOptions): string[] {
  const key = join(certs, 'service-account.key')
  return [
    '--etcd-servers',
    etcdAddress,
    '--secure-port',
    securePort,
    '--advertise-address',
    nodeAddress,
    '--tls-cert-file',
    join(certs, 'apiserver.crt'),
    '--tls-private-key-file',
    join(certs, 'apiserver.key'),
    '--cert-dir',
    certs,
    '--token-auth-file',
    tokenFile(info),
    '--authorization-mode',
    'RBAC',
    '--service-account-issuer',
    'https://kubernetes.default.svc',
    '--service-account-key-file',
    key,
    '--service-account-signing-key-file',
    key,
    '--service-cluster-ip-range',
    '10.96.0.0/16',
    ...(inCluster
      ? // The API server takes the address of a pod behind the Service, since nothing here serves the address of the Service.
        ['--enable-aggregator-routing']
      : // The pods need no token, and would otherwise wait for their account.
        ['--disable-admission-plugins', 'ServiceAccount']),
    '--allow-privileged',
    // The name of the node is in no DNS, and `kubectl logs` needs the kubelet.
    '--kubelet-preferred-address-types',
    'InternalIP',
    '--audit-log-path',
    auditFile(info),
    '--audit-policy-file',
    join(info.dir, 'audit-policy.json'),
    '--audit-log-mode',
    'blocking',
    // A client, such as the kubelet or a test, must not be slowed down by another client: fairness is not under test.
    '--max-requests-inflight',
    '1000',
    '--max-mutating-requests-inflight',
    '500',
  ]
}

function controllerManagerArguments(info: ClusterInfo, options: ControlPlaneOptions): string[] {
  const certs = join(info.dir, 'certs')
  const grace = options.nodeMonitorGracePeriodMs
  return [
    ...clientArguments(info),
    '--service-account-private-key-file',
    join(certs, 'service-account.key'),
    '--root-ca-file',
    join(certs, 'ca.crt'),
    '--node-monitor-period',
    '1s',
    ...(grace === undefined ? [] : ['--node-monitor-grace-period', `${grace}ms`]),
  ]
}

/** Returns the common arguments of the controller manager and the scheduler. */
function clientArguments(info: ClusterInfo): string[] {
  const kubeconfig = insideKubeconfig(info)
  const kubeconfigs = ['--kubeconfig', '--authentication-kubeconfig', '--authorization-kubeconfig']
  return [
    ...kubeconfigs.flatMap((flag) => [flag, kubeconfig]),
    '--leader-elect=false',
    '--kube-api-qps=200',
    '--kube-api-burst=400',
  ]
}
