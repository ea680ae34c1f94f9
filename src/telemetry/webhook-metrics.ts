import type { SecondLookCounts } from '../webhook/touch/second-looks.ts'
import type { RulesState } from '../webhook/sources/rules-source.ts'
import type { WebhookEvent } from '../webhook/start-webhook.ts'
import { createMetrics } from './create-metrics.ts'

/** The metrics of a replica of the webhook. */
export interface WebhookMetrics {
  onEvent(event: WebhookEvent): void
  contentType: string
  /** Returns all metrics in the text format of Prometheus. */
  text(): Promise<string>
}

export interface WebhookLook {
  readonly rules: RulesState
  readonly isLeader: boolean
  readonly secondLooks: SecondLookCounts
}

/** `look` returns the state at the instant of a scrape. */
export function createWebhookMetrics(look: () => WebhookLook): WebhookMetrics {
  const metrics = createMetrics('webhook')

  function update({ rules: { rules, acceptedAt, unconfirmedMs, problem }, isLeader, secondLooks }: WebhookLook): void {
    metrics.set('sluice_webhook_leader', {}, isLeader ? 1 : 0)
    metrics.set('sluice_webhook_wrong_objects', {}, secondLooks.wrong)
    metrics.set('sluice_webhook_stuck_objects', {}, secondLooks.stuck)
    metrics.set('sluice_webhook_unjudged_endpoints', {}, secondLooks.unjudged)
    metrics.set('sluice_webhook_rules_unconfirmed_seconds', {}, unconfirmedMs / 1000)
    metrics.replace(
      'sluice_webhook_rules_problem',
      problem === undefined ? [] : [{ labels: { rules_problem: problem.code }, value: 1 }],
    )
    const version = rules === undefined ? [] : [{ labels: { version: rules.version }, value: acceptedAt! / 1000 }]
    metrics.replace('sluice_webhook_rules_accepted_timestamp_seconds', version)
  }

  return {
    onEvent(event) {
      if (event.type === 'certificate-in-use')
        return metrics.set('sluice_webhook_certificate_end_timestamp_seconds', {}, event.endsAt / 1000)
      if (event.type === 'touched') return metrics.add('sluice_webhook_touches_total', {})
      if (event.type === 'touch-failed') return metrics.add('sluice_webhook_failed_touches_total', {})
      if (event.type !== 'answered') return
      const { result, tookMs, waited, decision } = event
      metrics.add('sluice_webhook_requests_total', { result })
      metrics.observe('sluice_webhook_request_duration_seconds', { result }, tookMs / 1000)
      if (waited !== undefined) metrics.add('sluice_webhook_pod_waits_total', { wait: waited.outcome })
      for (const { rule, effect, failed } of decision?.endpoints ?? []) {
        if (rule !== undefined) metrics.add('sluice_webhook_decisions_total', { rule, rule_effect: effect! })
        for (const one of failed) metrics.add('sluice_webhook_failed_rules_total', { rule: one.rule })
      }
    },
    contentType: metrics.contentType,
    text() {
      update(look())
      return metrics.text()
    },
  }
}
