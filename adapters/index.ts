/** `sluice/adapter`: the contract of an adapter, and `defineAdapter` for a small one. */
export { formatAddress, parseAddress } from './address.ts'
export * from './contract.ts'
export {
  type AdapterCode,
  type ChangeCall,
  type ChangeResults,
  defineAdapter,
  type DefinedCapabilities,
  type Entry,
  type Former,
  isUnsent,
  type ListCall,
  type LoadBalancerCalls,
  resultKey,
} from './define-adapter.ts'
