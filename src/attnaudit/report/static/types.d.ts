// The shapes of the data in a page, for the type checker; nothing here runs.

/** A line of a table, also one line of the CSV file of a chart. */
type Row = Record<string, any>;

/** What a chart is drawn with: the colours, its width, and what the reader has chosen. */
interface View {
  ink: string;
  soft: string;
  line: string;
  paper: string;
  first: string;
  second: string;
  colours: string[];
  diverging: string[];
  onStrong: string;
  width: number;
  /** The chosen class; -1 for all examples together. */
  group: number;
  measure?: string;
}

/** A Vega-Lite specification or an element, and the rows it shows. */
interface Drawing {
  rows: Row[];
  spec?: Record<string, any>;
  element?: HTMLElement;
  height?: number;
}

interface Chart {
  id: string;
  /** The question it answers. */
  title: string;
  /** How to read it. */
  caption: string;
  /** Over the whole width of the page? */
  wide?: boolean;
  /** Does the run have the numbers? */
  has?(data: ChartData): unknown;
  /** The measures to choose from. */
  measures?(data: ChartData): string[];
  /** Or other things to choose from: value and text of each. */
  choices?: [string, string][];
  /** The choice to start with. */
  first?: string;
  /** A sentence below the chart. */
  note?(data: ChartData, view: View): string;
  draw?(data: ChartData, view: View): Drawing | null;
  /** In place of `draw`: an element, saved as CSV only. */
  table?(data: ChartData, view: View): Drawing | null;
}

interface Histograms {
  low: number;
  high: number;
  /** counts: one list per class, one count per bin. */
  measures: Record<string, { counts: number[][] }>;
}

/** Made by attnaudit.report.charts.chart_data; what a run does not have is missing. */
interface ChartData {
  classes: string[];
  examples: number;
  tau?: Histograms;
  entropy?: Histograms;
  jsd?: Histograms;
  violins?: { peak: string; class: number; counts: number[]; median: number }[];
  points?: Record<string, any> & { class: string; count: number };
  epsilon?: Row[];
  flips?: Row[];
  removal?: Row[];
  zeros?: { class: number; mean: number }[];
  concentration?: { shares: number[]; measures: Record<string, Row[]> };
  matrix?: { names: string[]; cells: { a: string; b: string; tau: number; count: number }[] };
}

/** Made by attnaudit.report.related_findings. */
interface Findings {
  name: string;
  id?: string;
  question: string;
  answer?: string;
  summary: Row[];
  detail?: Row[];
  examples?: Row[];
}

interface RelatedFindings {
  corpus: Record<string, Findings[]>;
  interventions: Findings[];
}

/** Made by attnaudit.report.overview. */
interface NumberTables {
  columns: string[];
  audits: Record<string, any[][]>;
}

interface RunInfo {
  title: string;
  dimensions: Record<string, string>;
  classes: string[];
  /** Names of the attention rows. */
  rows: string[];
}

/** Made by attnaudit.report.move_packing. */
interface PackedMoves {
  kinds: string[];
  /** Number of the kind, word and target word of each; -1 if there is none. */
  moves: [number, number, number][];
  /** Moves × candidate classes. */
  probs: string;
  /** Of the attention from the original, mean over rows. */
  jsd: string;
  /** Shuffles × words: the mean weight over rows. */
  shuffled: string;
}

/** A move of the attention whose prediction is stored. */
interface Move {
  kind: string;
  word: number;
  to: number;
  /** By candidate class. */
  probs: number[];
  /** Of the attention from the original, mean over rows. */
  jsd: number;
}

/** An example as it is in the page; made by attnaudit.report.examples. */
interface PackedExample {
  id: string;
  query: string;
  label: number;
  predicted: number;
  probs: number[];
  tokens: string[];
  evidence: number[] | null;
  rows: number;
  attention: string;
  pair: number[] | null;
  marks: number[] | null;
  furthest: { count: number; at: string; weights: string } | null;
  jsd: number | null;
  upper: number | null;
  exact: boolean;
  candidates: number[];
  readout: string | null;
  /** null if the example can be computed from a readout, or no moves are stored for it. */
  moves: PackedMoves | null;
  scores: Record<string, { low: number; high: number; steps: string }>;
  numbers: Record<string, number | null>;
}

type OfRow<T> = (row?: number) => T;

/** An example with its numbers unpacked; row -1 is the mean over the rows. */
interface Example extends Omit<
  PackedExample,
  "attention" | "furthest" | "marks" | "readout" | "moves"
> {
  attention: OfRow<number[]>;
  /** null if no other attention was searched for. */
  furthest: OfRow<number[]> | null;
  marks: OfRow<number | null>;
  score: (measure: string, row?: number) => (number | null)[];
  /** Items × candidate classes. */
  readout: number[][] | null;
  moves: Move[] | null;
  /** Shuffles × words. */
  shuffled: number[][];
}

/** How the chosen example is shown; row -1 is the mean over the rows. */
interface ExampleView {
  /** A measure to compare with; "" for none. */
  measure: string;
  numbers: boolean;
  row: number;
}

/** The state of a playground after a move. */
interface PlayState {
  alpha: number[];
  /** Probabilities under the original attention, and now. */
  before: number[];
  now: number[];
  jsd: number;
  tvd: number;
  /** false while a word's attention is being carried. */
  done: boolean;
}

/** Bundled in vega.js. */
declare const vegaEmbed: (place: HTMLElement, spec: object, options: object) => Promise<any>;
