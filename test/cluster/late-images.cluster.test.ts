import { afterEach, expect, it } from 'vitest'
import { storedJournal } from './journal.ts'
import { statefulSet } from './manifests.ts'
import { story } from './moments.ts'
import { describeOnCluster } from './shared-cluster.ts'
import type { UpgradeBed } from './upgrade-bed.ts'
import { startUpgradeBed } from './upgrade-bed.ts'
import { startWebhook, webhookConfiguration } from './webhook.ts'

/**
 * The API server applies a patch, asks its webhooks, and stores the result only over the version that it has read; otherwise it begins
 * again. So images that have passed all their tests are still refused where the journal was written meanwhile.
 */
describeOnCluster('images that are long on their way', (cluster) => {
  let bed: UpgradeBed | undefined
  const undo: (() => Promise<unknown>)[] = []

  afterEach(async () => {
    for (const step of undo.splice(0).toReversed()) await step()
    await bed?.stop()
    bed = undefined
  })

  it('are refused once HAProxy has forgotten the drain, and the pod was drained again', async () => {
    const namespace = 'late-images'
    const objects = [statefulSet({ name: 'web', namespace, replicas: 2 })]
    bed = await startUpgradeBed(cluster(), { name: namespace, objects, app: 'web', count: 2 })
    const { api } = cluster()
    const webhook = await startWebhook(cluster(), 'holding-webhook.ts')
    undo.push(webhook.stop)
    const configuration = webhookConfiguration('ValidatingWebhookConfiguration', namespace, webhook.client)
    await api.apply(configuration)
    undo.push(() => api.delete(configuration.kind, configuration.metadata.name))
    const journal = async (): Promise<string> => storedJournal(await api.get('Pod', 'web-1', namespace)).condition ?? ''

    const run = bed.start(['upgrade', 'statefulset/web', 'app=localhost/app:v2'])
    await Promise.race([webhook.said(), run.exit.then((exit) => expect.unreachable(story(exit)))])
    await bed.haproxy.reload()
    await api.waitFor('the fence', journal, (text) => text.includes('"fence":1'))
    // The fence is on record before its drain.
    await expect.poll(() => bed!.effects(), { timeout: 30_000 }).toEqual({ 'web-1': ['drain', 'drain'] })
    webhook.tell('go on')

    const exit = await run.exit
    expect(exit.code, story(exit)).toBe(0)
    const patches = await bed.audit({ verb: 'patch', resource: 'pods', subresource: '', name: 'web-1' })
    const codes = patches.flatMap(({ requestURI, responseStatus }) =>
      requestURI.includes('dryRun') ? [] : [responseStatus?.code],
    )
    // The codes are those of the held images, of the images after them, and of the restore intent.
    expect(codes).toEqual([422, 200, 200])
    expect(bed.effects()).toEqual({ 'web-1': ['drain', 'drain', 'ready'], 'web-0': ['drain', 'ready'] })
    const images = (await bed.pods()).map(({ spec }) => spec.containers[0].image)
    expect(images).toEqual(['localhost/app:v2', 'localhost/app:v2'])
  })
})
