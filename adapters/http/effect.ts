/** The request of a drain or a restore: the only one, or the first of several whose condition is true. */
import { compile, ExpressionError, type Place } from './expression.ts'
import { type HttpOptions, requestsOf } from './fields.ts'
import { compileRequest, type MakeRequest, type RequestContext } from './request.ts'

type EffectName = 'drain' | 'restore'

/** The variables that the effects of these options can use. */
export function effectPlace({ inspect }: Pick<HttpOptions, 'inspect'>, effect: EffectName): Place {
  return inspect === undefined ? 'blind effect' : effect
}

export function compileEffect(options: HttpOptions, effect: EffectName, context: RequestContext): MakeRequest {
  const place = effectPlace(options, effect)
  const isList = Array.isArray(options[effect])
  const requests = requestsOf(options[effect]).map((request, index) => {
    const field = isList ? `${effect}[${index}]` : effect
    const fits = request.when === undefined ? undefined : compile(request.when, place, `${field}.when`)
    return { fits, make: compileRequest(request, place, field, context) }
  })
  return (values) => {
    const found = requests.find(({ fits }) => fits === undefined || fits(values) === true)
    if (found === undefined) throw new ExpressionError(`${effect}: there is no request for this: no when is true`)
    return found.make(values)
  }
}
