/** The components of a template as the Cloud API wants them: files may be written flat, or nested as Meta does. */
import { isObject, type Fields } from '../../lib/json-fields.ts'
import { objectAt, objectsAt, textAt } from './json.ts'

const fileTypes: ReadonlySet<string> = new Set(['image', 'video', 'document'])

export const componentOf = (component: Fields): Fields => {
  const { type, sub_type, index, parameters, cards, ...more } = component
  return {
    ...more,
    type: String(type).toLowerCase(),
    ...(typeof sub_type === 'string' ? { sub_type: sub_type.toLowerCase() } : {}),
    ...(index === undefined || index === null ? {} : { index: textAt(component, 'index') ?? index }),
    ...(Array.isArray(parameters)
      ? { parameters: parameters.map((one: unknown) => (isObject(one) ? parameterOf(one) : one)) }
      : {}),
    ...(Array.isArray(cards) ? { cards: objectsAt(component, 'cards').map(cardOf) } : {}),
  }
}

const cardOf = (card: Fields, place: number): Fields => ({
  ...card,
  card_index: card['card_index'] ?? place,
  components: objectsAt(card, 'components').map(componentOf),
})

function parameterOf(parameter: Fields): Fields {
  const type = String(parameter['type']).toLowerCase()
  if (fileTypes.has(type)) return fileParameter(type, parameter)
  if (type !== 'location' || objectAt(parameter, 'location') !== undefined) return { ...parameter, type }
  const { type: _, parameter_name, ...location } = parameter
  return { type, ...(parameter_name === undefined ? {} : { parameter_name }), location }
}

/** `{type: 'image', url}`, `{type: 'image', link}` and `{type: 'image', image: {link}}` are the same. */
function fileParameter(type: string, parameter: Fields): Fields {
  const { type: _, [type]: nested, parameter_name, ...flat } = parameter
  const { url, ...file } = isObject(nested) ? nested : flat
  return {
    type,
    ...(parameter_name === undefined ? {} : { parameter_name }),
    [type]: { ...(typeof url === 'string' && file['id'] === undefined ? { link: url } : {}), ...file },
  }
}
