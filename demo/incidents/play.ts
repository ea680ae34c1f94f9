import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { startEmbeddedCluster } from '../../sim/http/embedded-cluster.ts'
import { TRAFFIC } from '../acts/play.ts'
import { startEmbedded } from '../balancers/embedded.ts'
import { imageOf, NAMESPACE } from '../cluster/manifests.ts'
import { hasAddressPerPod } from '../cluster/start.ts'
import { DemoError } from '../demo-error.ts'
import type { Children } from '../processes/children.ts'
import type { RotationChange } from '../rotation/change.ts'
import { watchAddresses } from '../rotation/address-changes.ts'
import { watchRotation } from '../rotation/watch.ts'
import { configIn, setStage } from '../stage.ts'
import { startTraffic } from '../traffic/start.ts'
import { embedWebhook } from '../webhook/embedded-webhook.ts'
import { followEndpoints } from './follow-endpoints.ts'
import type { Incident, Outside, Scene, Traffic } from './incident.ts'
import { createTools } from './tools.ts'

export interface PlayOptions {
  children: Children
  folder: string
  program: string
  show: IncidentShow
  /** Applies the cure before the incident, so that it leaves nothing to find. For tests. */
  isCured?: boolean
}

/** The output while an incident is played. */
export interface IncidentShow {
  step(text: string): void
  say(text: string): void
  command(text: string): void
  line(text: string): void
}

/** The result of playing an incident once: the findings of sluice, and the requests that a client outside counted. */
export interface Passage {
  /** The findings without duplicates, each as the command of sluice and the code. */
  found: string[]
  /** The notes, in the form of `found`. A note alone means that nothing is wrong. */
  noted: string[]
  requests: number
  failed: number
  /** The requests of each time under traffic, in order. */
  traffic: Traffic[]
  /** The changes at the load balancer. */
  changes: RotationChange[]
  /** The number of changes of an endpoint, to ready or from it, in the cluster whose endpoints are followed. */
  addressChanges: number
  /** For each pod that has left the copies of another cluster: the time since its condition Ready had become False, in milliseconds. */
  copyLags: number[]
}

export interface IncidentResult {
  before: Passage
  /** Present where the incident has rules, and was played as it was. */
  withRules?: Passage
  after: Passage
}

const POLL_MS = 50
const LIMIT_MS = 60_000

/** Plays an incident as it was, with its rules, applies the cure, and plays it again. Rejects with a DemoError where a step fails. */
export async function playIncident(incident: Incident, options: PlayOptions): Promise<IncidentResult> {
  const { children, folder, program, show, isCured = false } = options
  const config = configIn(folder)
  const outsideOf = (port: number): Outside => ({
    name: 'outside',
    ...(hasAddressPerPod ? { host: '127.0.42.200', port } : { host: '127.0.0.1', port: port + 20 }),
  })
  const more = (port: number) => {
    const { name, host, port: own } = outsideOf(port)
    return [{ name, address: `${host}:${own}` }]
  }
  const { followed, hasAccessCluster = false } = incident
  const hasOutside = followed !== undefined && !hasAccessCluster
  const stage = await setStage(children, {
    ...incident.stage,
    start: startEmbedded,
    folder,
    config,
    ...(hasOutside ? { more } : {}),
  })
  const { embedded, kubeconfig, port, pods, endpointOf } = stage.cluster
  const access = hasAccessCluster ? await startEmbeddedCluster({ nodes: 0, images: {} }) : undefined
  const outside = outsideOf(port)
  if (hasOutside) startOutside(children, outside)
  const passage = emptyPassage()
  const scene: Scene = {
    ...createTools({
      children,
      program,
      kubeconfig,
      config,
      onCommand: show.command,
      onLine: show.line,
      onFound(command, code, isNote = false) {
        const found = `${command} ${code}`
        const all = isNote ? passage.noted : passage.found
        if (!all.includes(found)) all.push(found)
      },
    }),
    stage,
    ...(access === undefined ? {} : { access }),
    folder,
    children,
    outside,
    say: show.say,
    noteCopyLag: (ms) => passage.copyLags.push(ms),
    async underTraffic(work) {
      const traffic = startTraffic(children, { ...TRAFFIC, url: stage.balancer.url })
      await traffic.begun
      await work()
      const { requests, failures } = await traffic.stop()
      const counted = { requests, failed: failures.length }
      passage.traffic.push(counted)
      passage.requests += requests
      passage.failed += counted.failed
      return counted
    },
    async call(method, path, by, body) {
      const api = path.startsWith('/endpointslices') ? '/apis/discovery.k8s.io/v1' : '/api/v1'
      const type = method === 'PATCH' ? 'application/merge-patch+json' : 'application/json'
      const answer = await fetch(
        `${embedded.url}${api}/namespaces/${NAMESPACE}${path}${path.includes('?') ? '&' : '?'}fieldManager=${by}`,
        {
          method,
          headers: { 'content-type': type },
          ...(body === undefined ? {} : { body: JSON.stringify(body) }),
        },
      )
      if (!answer.ok) throw new Error(`demo: ${method} ${path}: ${answer.status} ${await answer.text()}`)
      return answer.json()
    },
    async until(what, holds) {
      const giveUpAt = performance.now() + LIMIT_MS
      while (!(await holds())) {
        if (performance.now() > giveUpAt) throw new DemoError(`in the incident ${incident.name} it did not come that ${what}`)
        await sleep(POLL_MS)
      }
    },
  }

  async function pass(cured: boolean): Promise<Passage> {
    Object.assign(passage, emptyPassage())
    const { changes } = passage
    const rotation = await watchRotation(stage.balancer.look, (change) => changes.push(change))
    const stopCounting = watchAddresses((access ?? embedded).apiServer, NAMESPACE, () => (passage.addressChanges += 1))
    await incident.happen(scene, cured)
    stopCounting()
    await rotation.stop()
    return { ...passage }
  }

  /** Plays the incident as it was, while the webhook decides by the rules. */
  async function passWithRules({ says, document }: NonNullable<Incident['rules']>): Promise<Passage> {
    show.step('With rules')
    show.say(says)
    const file = join(folder, 'rules.yaml')
    await writeFile(file, document)
    for (const line of document.trimEnd().split('\n')) show.line(line)
    await scene.checkRules(file)
    const webhook = embedWebhook(embedded.apiServer, NAMESPACE)
    webhook.setRules(document)
    const played = await pass(false)
    webhook.setRules(undefined)
    return played
  }

  await incident.prepare?.(scene)
  const servers = new Map([...pods.map((pod) => [endpointOf(pod).host, pod] as const), [outside.host, outside.name]])
  const following =
    followed &&
    followEndpoints(followed, {
      url: (access ?? embedded).url,
      balancer: stage.balancer,
      serverOf: (address) => servers.get(address),
    })
  if (isCured) await incident.applyCure?.(scene)
  else show.step('As it was')
  const before = await pass(isCured)
  const withRules = incident.rules === undefined || isCured ? undefined : await passWithRules(incident.rules)
  show.step('The cure')
  show.say(incident.cure)
  if (!isCured) await incident.applyCure?.(scene)
  const after = isCured ? before : await pass(true)
  await following?.stop()
  await incident.end?.(scene)
  await Promise.all([embedded.close(), access?.close()])
  return { before, ...(withRules === undefined ? {} : { withRules }), after }
}

function emptyPassage(): Passage {
  return { found: [], noted: [], requests: 0, failed: 0, traffic: [], changes: [], addressChanges: 0, copyLags: [] }
}

function startOutside(children: Children, { host, port, name }: Outside): void {
  children.run('pod', { HOST: host, PORT: `${port}`, POD: name, VERSION: imageOf(1), START_MS: '0' })
}
