import {
  ProtocolError,
  ProtocolErrorCode,
  type GetPromptResult,
  type ListPromptsResult,
  type Prompt,
} from '@modelcontextprotocol/server'
import { fixedLimits } from '../../api/limits.ts'

type Template = Prompt & { text: (given: Record<string, string>) => string }

const question = { name: 'question', description: 'The question, as a person would ask it.', required: true }

/** Ways to begin that people choose by name in their client. */
const prompts: Template[] = [
  {
    name: 'answer_question',
    title: 'Answer a question from the data',
    description: 'Finds the query that answers it, and says how old the data is and what is left out.',
    arguments: [question],
    text: ({ question: asked = '' }) =>
      `Answer this question from the tools of this server: ${JSON.stringify(asked)}.
Prefer a query by its name where its description fits; else use ask. If ask refuses, look at candidates and missing in its answer: take a candidate only where it means the same, and ask me for values that I did not give. Say which query answered with which parameters, as_of, and whether rows are missing (truncated). Do not estimate what no query gives.`,
  },
  {
    name: 'what_can_i_ask',
    title: 'What can I ask?',
    description: 'The deployed queries in plain words, with an example question for each.',
    arguments: [],
    text: () =>
      'Look at the tools of this server (list_queries where there are too many to list) and tell me in plain words what can be asked: group the queries by subject, one line each, with an example question and the values that it needs. Call none of them.',
  },
  {
    name: 'is_the_data_fresh',
    title: 'Is the data fresh?',
    description: 'The age of each table, and which answers rest on an old or incomplete one.',
    arguments: [],
    text: () =>
      'Read the resource “freshness” of this server. Tell me the oldest tables first, in words such as “3 hours old”, and which of them were cut short (truncated). Then say which tools read those tables.',
  },
]

export function listPrompts(): ListPromptsResult {
  return { prompts: prompts.map(({ text: _text, ...prompt }) => prompt) }
}

/** The message that a client puts before its model. */
export function getPrompt(name: string, given: Record<string, string> = {}): GetPromptResult {
  const found = prompts.find((prompt) => prompt.name === name)
  if (found === undefined) {
    const names = prompts.map((prompt) => prompt.name).join(', ')
    throw new ProtocolError(ProtocolErrorCode.InvalidParams, `There is no such prompt. There are ${names}.`)
  }
  for (const { name: argument, required } of found.arguments ?? []) {
    const value = given[argument] ?? ''
    const most = fixedLimits.questionChars.value
    if (value.length > most || (required === true && value.trim() === '')) {
      throw new ProtocolError(ProtocolErrorCode.InvalidParams, `${argument} must have 1 to ${most} characters.`)
    }
  }
  const { description, text } = found
  return {
    ...(description !== undefined && { description }),
    messages: [{ role: 'user', content: { type: 'text', text: text(given) } }],
  }
}
