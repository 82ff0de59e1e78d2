/** Checks the OpenAPI document against all rules of Redocly (`recommended-strict`) and Spectral (`oas`), offline. */
import { createConfig, lintFromString } from '@redocly/openapi-core'
import spectralCore, { type RulesetDefinition } from '@stoplight/spectral-core'
import spectralParsers from '@stoplight/spectral-parsers'
import spectralRulesets from '@stoplight/spectral-rulesets'

export async function documentProblems(text: string): Promise<string[]> {
  return [...(await redoclyProblems(text)), ...(await spectralProblems(text))]
}

async function redoclyProblems(text: string): Promise<string[]> {
  const config = await createConfig({ extends: ['recommended-strict'] })
  const problems = await lintFromString({ source: text, absoluteRef: 'openapi.json', config })
  return problems.map(
    ({ ruleId, message, location }) => `redocly ${ruleId}: ${message} at ${location[0]?.pointer ?? '#'}`,
  )
}

async function spectralProblems(text: string): Promise<string[]> {
  const spectral = new spectralCore.Spectral()
  spectral.setRuleset({ extends: [[spectralRulesets.oas as unknown as RulesetDefinition, 'recommended']] })
  const problems = await spectral.run(new spectralCore.Document(text, spectralParsers.Json, 'openapi.json'))
  return problems.map(({ code, message, path }) => `spectral ${code}: ${message} at ${path.join('/')}`)
}
