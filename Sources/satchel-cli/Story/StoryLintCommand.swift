import ArgumentParser
import Satchel

/// `satchel story lint`: checks stories for errors and warnings.
struct StoryLintCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "lint",
    abstract: "Check stories for errors and warnings.",
    discussion: """
      Finds choices without an existing target, unreachable segments, segments without a path to an ending, \
      and suspicious content. Arguments are files (JSON, Twee 3, or a published page or an archive of Twine), \
      directories (every story below them) and "-" for the standard input. All files are checked, even if some \
      cannot be read. Twee files in a directory that are one game are checked as one. Not read are hidden names, \
      links to directories, node_modules, what --exclude and the file .satchelignore of a directory name (in the \
      form of .gitignore), and other JSON files and pages.

        satchel story lint tale.json
        satchel story lint stories/ drafts/game.twee --strict
        satchel story lint stories/ --ignore reading-time --ignore unmarked-ending
        satchel story lint . --exclude dist/
        satchel story lint stories/ --sarif > satchel.sarif
        satchel story lint game/src/ --watch

      A finding is one line in the format that editors recognise:

        tale.json:12:30: error: the choice "go" leads to "forst", which does not exist; did you mean \
        "forest"? [broken-choice]

      The code in brackets is stable; "man satchel" lists all codes. --json prints one line of JSON with the \
      schema Documentation/schemas/story-lint.schema.json; --sarif prints a SARIF 2.1.0 log with paths \
      relative to the working directory. Pictures and sounds that a story names are looked for in its folder. \
      --watch checks all files again whenever one of them, or of the scripts, pictures and sounds in the given \
      directories, was changed, until Ctrl-C.

      Exit codes: 0 no errors (with --strict, no warnings either); 1 errors were found; 2 could not run, for \
      example because a path does not exist or there is no story file.
      """)

  @Argument(help: StoryHelp.paths, completion: .file(extensions: StoryFile.extensions))
  var paths: [String]

  @Flag(help: "Print JSON, on one line.")
  var json = false

  @Flag(help: "Print a SARIF 2.1.0 log, on one line.")
  var sarif = false

  @Flag(help: "Treat warnings as errors.")
  var strict = false

  @Option(
    help: ArgumentHelp("Ignore findings with this code; repeatable.", valueName: "code"),
    completion: .list(StoryFinding.Code.allCases.map(\.rawValue)))
  var ignore: [String] = []

  @Option(help: StoryHelp.exclude)
  var exclude: [String] = []

  @Flag(help: "With --json, list files without findings, too.")
  var all = false

  @Flag(name: [.short, .long], help: "Print findings only, without summary and progress bar.")
  var quiet = false

  @Flag(help: "Check again whenever a file changes, until Ctrl-C.")
  var watch = false

  func validate() throws {
    if watch, paths.contains("-") {
      throw ValidationError("--watch: the standard input cannot be watched")
    }
    if json, sarif { throw ValidationError("--json and --sarif exclude each other") }
    for code in ignore where StoryFinding.Code(rawValue: code) == nil {
      let codes = StoryFinding.Code.allCases.map(\.rawValue).joined(separator: ", ")
      throw ValidationError("--ignore: unknown code \(code.printable); the codes are \(codes)")
    }
  }

  func run() throws {
    if watch { return try runUntilInterrupted() }
    let totals = try lint()
    if totals.errors > 0 || (strict && totals.warnings > 0) { throw Terminal.attention }
  }

  private func runUntilInterrupted() throws {
    Interruption.installHandlers()
    // Made first, so that a change during the check is noticed.
    var watch = StoryWatch(paths, exclude: exclude)
    _ = try lint()
    if !quiet { Terminal.printError("watching until Ctrl-C") }
    while watch.next() {
      do { _ = try lint() } catch let error as SatchelError {
        // A file may be missing while an editor replaces it.
        Terminal.printError(error.message)
      }
    }
    Interruption.raiseSignal()
  }

  private func lint() throws -> LintTotals {
    let files = try StoryFiles.find(paths, exclude: exclude)
    let ignored = Set(ignore.compactMap(StoryFinding.Code.init(rawValue:)))
    let checksDuplicates = !ignored.contains(.duplicateStory)
    var output = try makeOutput()
    var totals = LintTotals()
    var duplicates = DuplicateStories()
    var progress = Progress(total: files.count, isQuiet: quiet)
    try ParallelMap.forEach(files, progress: &progress) {
      LintedFile($0, ignoring: ignored)
    } body: { linted, progress in
      var linted = linted
      if linted.isSkipped { return }
      if checksDuplicates { duplicates.check(&linted) }
      totals.add(linted)
      if !linted.findings.isEmpty { progress.clear() }
      try output.add(linted)
    }
    try output.finish(totals)
    if !quiet, !json, !sarif { Terminal.put(totals.text + "\n", to: STDERR_FILENO) }
    return totals
  }

  private func makeOutput() throws -> any LintOutput {
    let output = try Output()
    if json { return try LintJSON(output: output, listsAll: all, isStrict: strict) }
    if sarif { return LintSARIF(output: output) }
    return LintText(output: output, isColoured: Terminal.wantsColour(STDOUT_FILENO))
  }
}
