import { expect, test } from 'vitest'
import { createKubeClient } from '../kube/kube-client.ts'
import { TransportError } from '../kube/transport.ts'
import { systemClock, systemRandom } from '../ports/system.ts'
import type { RulesSource } from './sources/rules-source.ts'
import { startWebhook, type WebhookEvent } from './start-webhook.ts'

test('a webhook that cannot store its certificate ends by the signal', async () => {
  const refused = (): Promise<never> => Promise.reject(new TransportError('connection refused', { bytesLeft: false }))
  const transport = { send: refused, stream: refused, close: () => Promise.resolve() }
  const rules = {
    current: () => undefined,
    problem: () => undefined,
    onChange: () => () => {},
    state: () => ({ rules: undefined, unconfirmedMs: 0 }),
  } as unknown as RulesSource
  const stopping = new AbortController()
  const troubled = Promise.withResolvers<void>()
  const started = startWebhook({
    client: createKubeClient({ transport, clock: systemClock, random: systemRandom }),
    clock: systemClock,
    random: systemRandom,
    listen: '127.0.0.1:0',
    namespaces: ['shop'],
    ownNamespace: 'sluice-webhook',
    certificate: { secret: 'certificate', configuration: 'sluice-webhook', names: ['127.0.0.1'] },
    lease: 'sluice-webhook',
    identity: 'one',
    rules,
    warningOf: ({ code }) => code,
    signal: stopping.signal,
    onEvent: ({ type }: WebhookEvent) => {
      if (type === 'certificate-trouble') troubled.resolve()
    },
  })
  await troubled.promise
  stopping.abort()
  await expect(started).rejects.toBe(stopping.signal.reason)
})
