import { randomBytes } from 'node:crypto'
import { EXIT, type ExitCode } from '../../library/exit-codes.ts'
import { processIdentity } from '../../library/process-identity.ts'
import { systemRandom } from '../../ports/system.ts'
import { webhookWarningWords } from '../../report/words/webhook.ts'
import { parseListenAddress } from '../../server/listen-address.ts'
import { forbiddenNamespaces } from '../../webhook/admission/scope.ts'
import { parseRulesFrom, type RulesFrom } from '../../webhook/sources/rules-from.ts'
import type { Webhook, WebhookOptions } from '../../webhook/start-webhook.ts'
import { durationFlag } from '../arguments/duration-flag.ts'
import type { ServeWebhookFlags } from '../arguments/flags.ts'
import { parseRequestTimeout } from '../arguments/request-timeout.ts'
import { UsageError } from '../arguments/usage-error.ts'
import type { CommandContext } from '../commands/context.ts'
import { failureOf } from '../failures.ts'
import { createServerLogger } from '../log.ts'
import { metricsAddress } from '../metrics/metrics-address.ts'
import { serveMetrics } from '../metrics/serve-metrics.ts'
import { inert } from '../output/inert.ts'
import { reportFailure } from '../report-failure.ts'
import { type InterruptCause, watchInterrupts } from '../run/interrupts.ts'
import { createWebhookLog } from '../webhook/webhook-log.ts'

/** Serves the webhook until a signal. Its end by a signal is the usual one. */
export async function serveWebhookAction(flags: ServeWebhookFlags, { terminal }: CommandContext): Promise<ExitCode> {
  const problems: string[] = []
  const requestTimeoutMs = parseRequestTimeout(flags.requestTimeout, problems)
  const metricsAt = metricsAddress(flags, problems)
  const leaveMs = durationFlag('--leave', flags.leave, 0, problems)
  const from = rulesFrom(flags.rules, problems)
  checkListen(flags.listen, problems)
  checkCertificate(flags, problems)
  if (problems.length > 0) throw new UsageError(problems)

  const stopping = new AbortController()
  const interrupts = watchInterrupts({
    events: terminal.events,
    now: () => terminal.clock.now(),
    exit: (code) => terminal.exit(code),
  })
  interrupts.stopInOrder((cause) => {
    if ('bug' in cause) reportFailure(failureOf(cause.bug, { touched: true }), { verbose: true }, terminal)
    stopping.abort()
  })
  const { namespace: namespaces, ownNamespace: givenNamespace, ...clusterFlags } = flags
  const { openCluster } = await import('../world.ts')
  const cluster = await openCluster(clusterFlags, requestTimeoutMs, terminal)
  const ownNamespace = givenNamespace ?? cluster.namespace
  let metricsServer: { close(): Promise<unknown> } | undefined
  let webhook: Webhook | undefined
  /** The rules are followed until the last request is answered. */
  const following = new AbortController()
  try {
    const forbidden = forbiddenNamespaces({ namespaces: new Set(namespaces), own: ownNamespace })
    if (forbidden.length > 0)
      throw new UsageError(
        forbidden.map((one) => `--namespace ${one}: the webhook acts neither in kube-system nor in its own namespace`),
      )
    const logger = await createServerLogger(flags.verbose === true, terminal)
    const log = createWebhookLog(logger, terminal.clock)
    const { openRules } = await import('../../webhook/sources/open-rules.ts')
    const { readSignatureKeys } = await import('../../webhook/sources/signature.ts')
    const { createWebhookMetrics } = await import('../../telemetry/webhook-metrics.ts')
    const { startWebhook } = await import('../../webhook/start-webhook.ts')
    const rules = openRules({
      from: from!,
      clock: terminal.clock,
      random: systemRandom,
      client: cluster.client,
      http: {
        ...(flags.rulesCa !== undefined && { caFile: flags.rulesCa }),
        ...(flags.rulesBearer !== undefined && { bearerFile: flags.rulesBearer }),
        ...(flags.rulesBasic !== undefined && { basicFile: flags.rulesBasic }),
        ...(flags.rulesField !== undefined && { field: flags.rulesField }),
      },
      ...(flags.rulesKey !== undefined && { signatureKeys: await readSignatureKeys(flags.rulesKey) }),
      ...(flags.rulesCache !== undefined && { cacheFile: flags.rulesCache }),
      signal: following.signal,
    })
    const metrics = createWebhookMetrics(() => ({
      rules: rules.state(),
      isLeader: webhook?.leader.isLeader() ?? false,
      secondLooks: webhook?.secondLooks() ?? { waiting: 0, wrong: 0, stuck: 0, unjudged: 0 },
    }))
    const notReady = () => webhook?.notReady() ?? [{ code: 'starting' }]
    const say = (line: string): void => terminal.err.write(`${inert(line)}\n`)
    metricsServer = metricsAt && (await serveMetrics(metricsAt, { metrics, notReady }, say))
    webhook = await startWebhook({
      client: cluster.client,
      clock: terminal.clock,
      random: systemRandom,
      listen: flags.listen,
      namespaces,
      ownNamespace,
      certificate: certificateOf(flags, ownNamespace),
      lease: flags.lease,
      // Two runs of a container in one pod are two replicas.
      identity: `${processIdentity()}_${randomBytes(4).toString('hex')}`,
      rules,
      warningOf: webhookWarningWords,
      leaveMs,
      signal: stopping.signal,
      onEvent(event) {
        metrics.onEvent(event)
        log(event)
      },
    })
    await webhook.ended
    return codeOf(interrupts.cause)
  } catch (error) {
    // The signal came before the server has listened, as while the certificate cannot be stored.
    if (stopping.signal.aborted && error === stopping.signal.reason) return codeOf(interrupts.cause)
    throw error
  } finally {
    following.abort()
    interrupts.dispose()
    await Promise.all([metricsServer?.close(), cluster.close()])
  }
}

function codeOf(cause: InterruptCause | undefined): ExitCode {
  return cause !== undefined && 'bug' in cause ? EXIT.failed : EXIT.done
}

function rulesFrom(text: string, problems: string[]): RulesFrom | undefined {
  try {
    return parseRulesFrom(text)
  } catch (error) {
    problems.push(`--rules: ${(error as Error).message}`)
    return undefined
  }
}

function checkListen(listen: string, problems: string[]): void {
  try {
    parseListenAddress(listen)
  } catch (error) {
    problems.push(`--listen: ${(error as Error).message}`)
  }
}

function checkCertificate({ tlsCert, tlsKey, ownCertificate, certificateHost }: ServeWebhookFlags, problems: string[]): void {
  if ((tlsCert === undefined) !== (tlsKey === undefined)) problems.push('--tls-cert and --tls-key go together')
  else if (ownCertificate === true && tlsCert !== undefined) problems.push('--own-certificate excludes --tls-cert and --tls-key')
  else if (ownCertificate !== true && tlsCert === undefined)
    problems.push('the API server asks by HTTPS alone: give --tls-cert and --tls-key, or --own-certificate')
  if (certificateHost !== undefined && ownCertificate !== true) problems.push('--certificate-host needs --own-certificate')
}

function certificateOf(flags: ServeWebhookFlags, namespace: string): WebhookOptions['certificate'] {
  const { tlsCert: certFile, tlsKey: keyFile, service, certificateHost = [], certificateSecret: secret, configuration } = flags
  if (certFile !== undefined && keyFile !== undefined) return { certFile, keyFile }
  const names = [`${service}.${namespace}.svc`, `${service}.${namespace}.svc.cluster.local`, `${service}.${namespace}`, service]
  return { secret, configuration, names: [...names, ...certificateHost] }
}
