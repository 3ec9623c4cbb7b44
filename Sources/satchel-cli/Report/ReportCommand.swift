import ArgumentParser
import Satchel

/// `satchel report`: writes an HTML page about a store.
struct ReportCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "report",
    abstract: "Write an HTML page about a store: what it holds, and until when.",
    discussion: """
      Writes one HTML file without external resources and without scripts: the places with their sections and \
      the times when they expire, the offline regions, the age of the content and the requests that fail, the \
      photos by month, the collections, the state, the assets, the remotes with the last syncs, and the findings of \
      a check. Values that are stored encrypted are named and not shown. Reads every page of the store and changes \
      nothing.

        satchel report guide.satchel -o report.html
        satchel report guide.satchel > report.html

      Exit codes: 0 written, and the store is sound; 1 written, and the check has findings; 2 could not run.
      """)

  @Argument(help: "The store's file.", completion: .file())
  var store: String

  @Option(
    name: [.short, .long],
    help: ArgumentHelp(
      "Write to this file, which is replaced atomically; the default is the standard output.",
      valueName: "file"),
    completion: .file(extensions: ["html"]))
  var output: String?

  @Option(help: "The page's title; the default is the name of the store's file.")
  var title: String?

  func run() throws {
    if self.output == nil, Terminal.isTerminal(STDOUT_FILENO) {
      throw SatchelError(.invalid, "the page is HTML: name its file with -o, or redirect the standard output")
    }
    guard access(self.store, F_OK) == 0 else {
      throw SatchelError(.notFound, "\(self.store.printable): does not exist")
    }
    var options = StoreOptions()
    options.isReadOnly = true
    let store = try Store(path: self.store, options: options)
    defer { try? store.close() }
    // Opened before the work, so that an output that cannot be written is an error at once.
    let output = try Output(output)
    let report = try StoreReport(store)
    let name = String(decoding: FilePath(argument: self.store).tidy.name, as: UTF8.self)
    try StoreReportPage(report: report, title: title ?? name).write(to: output)
    try output.finish()
    if !report.isSound {
      let findings = Terminal.count(report.findings.count, "finding")
      Terminal.printError("\(self.store.printable): the check has \(findings), which the page lists")
      throw Terminal.attention
    }
  }
}

extension FilePath {
  /// The last component.
  fileprivate var name: [UInt8] {
    Array(bytes[(bytes.lastIndex(of: UInt8(ascii: "/")).map { $0 + 1 } ?? 0)...])
  }
}
