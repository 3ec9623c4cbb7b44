import ArgumentParser
import Satchel

/// `satchel story lint`: finds what is wrong with stories.
struct StoryLintCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "lint",
    abstract: "Find what is wrong with stories.",
    discussion: """
      Choices that lead nowhere, segments that no reader comes to, places without a way out, and what is merely \
      odd. Takes files (JSON, or Twee 3), directories (every *.json, *.twee and *.tw below them; hidden names and \
      links to directories are left out) and "-" for the standard input. One bad file never hides the others.

        satchel story lint tale.json
        satchel story lint stories/ drafts/game.twee --strict
        satchel story lint stories/ --ignore reading-time --ignore unmarked-ending
        satchel story lint stories/ --sarif > satchel.sarif

      A finding is one line, which editors jump to:

        tale.json:12:30: error: the choice "go" leads to "forst", which does not exist; did you mean "forest"? \
      [broken-choice]

      The code in brackets never changes; "man satchel" says what each means. With --json a line of JSON, as \
      Documentation/schemas/story-lint.schema.json describes it; with --sarif a log in SARIF 2.1.0, with names \
      relative to the working directory.

      Exit codes: 0 nothing is wrong (warnings may have been found, unless --strict is given); 1 something is; \
      2 could not run, as when a path does not exist or there is nothing to check.
      """)

  @Argument(help: StoryHelp.paths, completion: .file(extensions: StoryFile.extensions))
  var paths: [String]

  @Flag(help: "Print JSON, on one line.")
  var json = false

  @Flag(help: "Print a SARIF 2.1.0 log, on one line.")
  var sarif = false

  @Flag(help: "Warnings count as errors.")
  var strict = false

  @Option(
    help: ArgumentHelp("Leave out findings of this code; may be given several times.", valueName: "code"),
    completion: .list(StoryFinding.Code.allCases.map(\.rawValue)))
  var ignore: [String] = []

  @Flag(help: "With --json, list files without findings too.")
  var all = false

  @Flag(name: [.short, .long], help: "Print findings only: no summary, and no progress bar.")
  var quiet = false

  func validate() throws {
    if json, sarif { throw ValidationError("--json and --sarif exclude each other") }
    for code in ignore where StoryFinding.Code(rawValue: code) == nil {
      let codes = StoryFinding.Code.allCases.map(\.rawValue).joined(separator: ", ")
      throw ValidationError("--ignore: there is no code \(code.printable); the codes are \(codes)")
    }
  }

  func run() throws {
    let files = try StoryFiles.find(paths)
    let ignored = Set(ignore.compactMap(StoryFinding.Code.init(rawValue:)))
    let notesDuplicates = !ignored.contains(.duplicateStory)
    var output = try makeOutput()
    var totals = LintTotals()
    var duplicates = DuplicateStories()
    var progress = Progress(total: files.count, isQuiet: quiet)
    try InOrder.each(files, progress: &progress) {
      LintedFile($0, ignoring: ignored)
    } body: { linted, progress in
      var linted = linted
      if notesDuplicates { duplicates.note(&linted) }
      totals.add(linted)
      if !linted.findings.isEmpty { progress.clear() }
      try output.add(linted)
    }
    try output.finish(totals)
    if !quiet, !json, !sarif { Terminal.say(totals.text + "\n", to: STDERR_FILENO) }
    if totals.errors > 0 || (strict && totals.warnings > 0) { throw Terminal.attention }
  }

  private func makeOutput() throws -> any LintOutput {
    let output = try Output()
    if json { return try LintJSON(output: output, listsAll: all, isStrict: strict) }
    if sarif { return LintSARIF(output: output) }
    return LintText(output: output, isColoured: Terminal.wantsColour(STDOUT_FILENO))
  }
}
