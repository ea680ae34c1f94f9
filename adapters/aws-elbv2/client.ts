/** Sends one request of the API through the SDK, without its retries. */
import { AsyncLocalStorage } from 'node:async_hooks'
import { Agent as HttpAgent, type ClientRequest } from 'node:http'
import { Agent as HttpsAgent } from 'node:https'
import type {
  DeregisterTargetsCommandInput,
  DeregisterTargetsCommandOutput,
  DescribeTargetGroupAttributesCommandInput,
  DescribeTargetGroupAttributesCommandOutput,
  DescribeTargetGroupsCommandInput,
  DescribeTargetGroupsCommandOutput,
  DescribeTargetHealthCommandInput,
  DescribeTargetHealthCommandOutput,
  ElasticLoadBalancingV2Client,
  ElasticLoadBalancingV2ClientConfig,
  RegisterTargetsCommandInput,
  RegisterTargetsCommandOutput,
  ServiceInputTypes,
  ServiceOutputTypes,
} from '@aws-sdk/client-elastic-load-balancing-v2'
import type { ListCall } from '../define-adapter.ts'
import { createByteWatch, type Flight } from '../watch-bytes.ts'
import { adapterErrorOf } from './errors.ts'
import type { Elbv2Options } from './options.ts'
import { type Elbv2Sdk, loadSdk } from './sdk.ts'
import { regionOf } from './target-group.ts'

/** One for each target group that is read at the same time, and some. */
const MOST_CONNECTIONS = 10
const SESSION_NAME = 'sluice'
/** The actions that are used, with what each takes and gives. */
interface Actions {
  DescribeTargetHealth: { input: DescribeTargetHealthCommandInput; output: DescribeTargetHealthCommandOutput }
  DescribeTargetGroupAttributes: {
    input: DescribeTargetGroupAttributesCommandInput
    output: DescribeTargetGroupAttributesCommandOutput
  }
  DescribeTargetGroups: { input: DescribeTargetGroupsCommandInput; output: DescribeTargetGroupsCommandOutput }
  RegisterTargets: { input: RegisterTargetsCommandInput; output: RegisterTargetsCommandOutput }
  DeregisterTargets: { input: DeregisterTargetsCommandInput; output: DeregisterTargetsCommandOutput }
}

export interface Elbv2Client {
  /** @throws AdapterError, and what `assertLive` throws */
  send<Name extends keyof Actions>(action: Name, input: Actions[Name]['input'], call: Sending): Promise<Actions[Name]['output']>
  close(): void
}

type Sending = Pick<ListCall, 'assertLive' | 'signal'>

/** A call, from the moment that the SDK has signed it on. */
interface Wire {
  call: Sending
  flight: Flight
  /** Before, the SDK may ask for credentials, by the same connections. */
  isSigned: boolean
}

export interface ClientOptions extends Pick<Elbv2Options, 'targetGroups' | 'profile' | 'roleArn' | 'externalId' | 'endpoint'> {
  component: string
  /** Of the config. */
  folder: string
}

export function createElbv2Client(options: ClientOptions): Elbv2Client {
  const { component, folder, roleArn } = options
  const wires = new AsyncLocalStorage<Wire>()
  const agents = [new HttpAgent(POOL), new HttpsAgent({ ...POOL, rejectUnauthorized: true })] as const
  for (const agent of agents) watch(agent, wires)
  let made: { client: ElasticLoadBalancingV2Client; elbv2: Elbv2Sdk } | undefined

  /** Loading the SDK takes a tenth of a second, which a command that calls nothing need not wait for. */
  function connected(): NonNullable<typeof made> {
    if (made !== undefined) return made
    const { elbv2, credentials } = loadSdk(options, folder)
    const [httpAgent, httpsAgent] = agents
    const client = new elbv2.ElasticLoadBalancingV2Client({
      ...clientConfig(options, credentials),
      maxAttempts: 1,
      requestHandler: { httpAgent, httpsAgent },
    })
    // The innermost of all: what comes after it is the connection.
    client.middlewareStack.add(
      (next) => (request) => {
        const wire = wires.getStore()
        if (wire !== undefined) wire.isSigned = true
        return next(request)
      },
      { step: 'deserialize', priority: 'low', name: 'sluiceWire' },
    )
    made = { client, elbv2 }
    return made
  }

  return {
    async send(action, input, call) {
      const flight: Flight = { sent: false }
      const wire = { call, flight, isSigned: false }
      try {
        const { client, elbv2 } = connected()
        const Command = elbv2[`${action}Command`] as new (input: object) => Parameters<typeof client.send>[0]
        const sent = wires.run(wire, () =>
          client.send<ServiceInputTypes, ServiceOutputTypes>(new Command(input), { abortSignal: call.signal }),
        )
        return (await sent) as Actions[typeof action]['output']
      } catch (error) {
        if (flight.lost !== undefined) throw flight.lost.error
        const isWrite = action === 'RegisterTargets' || action === 'DeregisterTargets'
        const targetGroup = 'TargetGroupArn' in input ? String(input.TargetGroupArn) : options.targetGroups.join(', ')
        throw adapterErrorOf(error, { component, action, targetGroup, isWrite, flight, roleArn })
      }
    },
    close() {
      made?.client.destroy()
      for (const agent of agents) agent.destroy()
    },
  }
}

const POOL = { keepAlive: true, maxSockets: MOST_CONNECTIONS }

/** `addRequest` is where Node gives a request of this agent its socket. */
type Addable = { addRequest(request: ClientRequest, ...rest: unknown[]): void }

function watch(agent: HttpAgent | HttpsAgent, wires: AsyncLocalStorage<Wire>): void {
  const watchBytes = createByteWatch({ isSecure: agent instanceof HttpsAgent })
  const own = agent as unknown as Addable
  const add = own.addRequest.bind(agent)
  own.addRequest = (request, ...rest) => {
    const wire = wires.getStore()
    if (wire?.isSigned) watchBytes(request, wire.call, wire.flight)
    add(request, ...rest)
  }
}

function clientConfig(
  { targetGroups, profile, roleArn, externalId, endpoint }: ClientOptions,
  credentials: ReturnType<typeof loadSdk>['credentials'],
): ElasticLoadBalancingV2ClientConfig {
  const region = regionOf(targetGroups[0]!)!
  return {
    region,
    ...(endpoint === undefined ? {} : { endpoint }),
    ...(profile === undefined ? {} : { profile }),
    ...(credentials === undefined || roleArn === undefined
      ? {}
      : {
          // Asked for anew shortly before those that it has given expire.
          credentials: credentials.fromTemporaryCredentials({
            params: {
              RoleArn: roleArn,
              RoleSessionName: SESSION_NAME,
              ...(externalId === undefined ? {} : { ExternalId: externalId }),
            },
            ...(profile === undefined ? {} : { masterCredentials: credentials.fromNodeProviderChain({ profile }) }),
            clientConfig: { region },
          }),
        }),
  }
}
