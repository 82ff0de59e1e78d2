/** Content `location`: a place on the map. */
import { Type } from 'typebox'
import { contentType } from './content-type.ts'
import { maybe, text } from './fields.ts'

export const location = contentType({
  summary: 'A place on the map.',
  schema: Type.Object({
    latitude: Type.Number({ minimum: -90, maximum: 90, description: 'Degrees north of the equator.' }),
    longitude: Type.Number({ minimum: -180, maximum: 180, description: 'Degrees east of Greenwich.' }),
    name: maybe(text(0, undefined, 'The name of the place.')),
    address: maybe(text(0, undefined, 'Its postal address, in one line.')),
  }),
  example: { latitude: 52.5163, longitude: 13.3777, name: 'Brandenburg Gate', address: 'Pariser Platz, 10117 Berlin' },
  rules: [],
  direction: 'both',
})
