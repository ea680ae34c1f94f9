/** Sends one request of the API through the SDK, without the retries of the SDK. */
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

/** The limit of connections: one for each target group that is read at the same time, and some more. */
const MOST_CONNECTIONS = 10
const SESSION_NAME = 'sluice'
/** The actions of the API that the adapter uses, with their inputs and outputs. */
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
  /** @throws AdapterError, and the error of `assertLive` */
  send<Name extends keyof Actions>(action: Name, input: Actions[Name]['input'], call: Sending): Promise<Actions[Name]['output']>
  close(): void
}

type Sending = Pick<ListCall, 'assertLive' | 'signal'>

/** A call on the wire, once the SDK has signed it. */
interface Wire {
  call: Sending
  flight: Flight
  /** False until the SDK has signed the call. Before that, the SDK may request credentials over the same connections. */
  isSigned: boolean
}

export interface ClientOptions extends Pick<Elbv2Options, 'targetGroups' | 'profile' | 'roleArn' | 'externalId' | 'endpoint'> {
  component: string
  /** The folder of the config. */
  folder: string
}

export function createElbv2Client(options: ClientOptions): Elbv2Client {
  const { component, folder, roleArn } = options
  const wires = new AsyncLocalStorage<Wire>()
  const agents = [new HttpAgent(POOL), new HttpsAgent({ ...POOL, rejectUnauthorized: true })] as const
  for (const agent of agents) watch(agent, wires)
  let made: { client: ElasticLoadBalancingV2Client; elbv2: Elbv2Sdk } | undefined

  /** Loads the SDK at the first call. It takes a tenth of a second, which a command without calls saves. */
  function connected(): NonNullable<typeof made> {
    if (made !== undefined) return made
    const { elbv2, credentials } = loadSdk(options, folder)
    const [httpAgent, httpsAgent] = agents
    const client = new elbv2.ElasticLoadBalancingV2Client({
      ...clientConfig(options, credentials),
      maxAttempts: 1,
      requestHandler: { httpAgent, httpsAgent },
    })
    // The innermost middleware: the next step is the connection.
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

/** An agent. Node gives a request its socket in `addRequest`. */
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
          // The SDK requests new credentials shortly before the former ones expire.
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
