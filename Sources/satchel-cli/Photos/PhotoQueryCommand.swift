import ArgumentParser
import Satchel

/// `satchel photos query`: the photos that fit.
struct PhotoQueryCommand: ParsableCommand {
  enum Order: String, ExpressibleByArgument, CaseIterable {
    case md5, photodate, filename
  }

  static let configuration = CommandConfiguration(
    commandName: "query",
    abstract: "List photos by date, name, star, backup or shard.",
    discussion: """
      A table, the first 100 unless --limit or --all says otherwise; how many more there are stands on the standard \
      error. Times are in UTC.

        satchel photos query guide.satchel ~/Pictures --from 2024-01 --to 2024-03 --order photodate
        satchel photos query guide.satchel ~/Pictures --name 'IMG_*.jpg' --starred
        satchel photos query guide.satchel ~/Pictures --status error --json
        satchel photos query guide.satchel ~/Pictures --all --csv > photos.csv

      With --json an array on one line; with --json-lines a line for each photo; with --csv a heading and a line for \
      each photo (RFC 4180; times are Unix seconds, as in JSON).

      Exit codes: 0 listed; 1 no photo fits; 2 could not run.
      """)

  @OptionGroup var arguments: PhotoArguments

  @Option(
    parsing: .unconditional, help: ArgumentHelp("Taken then or later: \(PhotoDate.help)", valueName: "time"),
    transform: PhotoDate.init)
  var from: PhotoDate?

  @Option(
    parsing: .unconditional,
    help: ArgumentHelp("Taken then or earlier: \(PhotoDate.help)", valueName: "time"),
    transform: PhotoDate.init)
  var to: PhotoDate?

  @Option(
    help: ArgumentHelp(
      #"With this file name; * and ? are wildcards, and \ makes one itself."#, valueName: "pattern"))
  var name: String?

  @Flag(inversion: .prefixedNo, help: "With a star, or without.")
  var starred: Bool?

  @Option(
    help: ArgumentHelp(
      "With this state of backup: \(BackupStatus.allCases.map(\.rawValue).joined(separator: ", ")).",
      valueName: "status"),
    completion: .list(BackupStatus.allCases.map(\.rawValue)))
  var status: String?

  @Option(help: ArgumentHelp("Of this shard, 0 to f.", valueName: "digit"))
  var shard: String?

  @Option(help: "What to sort by.")
  var order = Order.md5

  @Flag(help: "Last first.")
  var descending = false

  @Option(help: ArgumentHelp("How many at most.", valueName: "n"))
  var limit: Int?

  @Flag(help: "All, however many.")
  var all = false

  @Flag(help: "Print a line of JSON for each photo.")
  var jsonLines = false

  @Flag(help: "Print CSV with a heading.")
  var csv = false

  /// Photos that are fetched at a time.
  private static let page = 1000

  func validate() throws {
    if let limit, limit < 1 { throw ValidationError("--limit: \(limit) is less than 1") }
    if limit != nil, all { throw ValidationError("--limit and --all exclude each other") }
    if [arguments.json, jsonLines, csv].filter({ $0 }).count > 1 {
      throw ValidationError("--json, --json-lines and --csv exclude each other")
    }
    if let status, BackupStatus(rawValue: status) == nil {
      let names = BackupStatus.allCases.map(\.rawValue).joined(separator: ", ")
      throw ValidationError("--status: \(status.printable) is none of \(names)")
    }
    if let shard, Shard.Index(digit: shard) == nil {
      throw ValidationError("--shard: \(shard.printable) is no digit from 0 to f")
    }
    if let from, let to, from.seconds.lowerBound > to.seconds.upperBound {
      throw ValidationError("--from is later than --to")
    }
  }

  func run() throws {
    let output = try Output()
    let form = form
    let found = try arguments.withCatalogue { try list($0, as: form, on: output) }
    try output.finish()
    if found.shown == 0 {
      if form.isForPeople { Terminal.complain("no photo fits") }
      throw Terminal.attention
    }
    if found.shown < found.all, form.isForPeople, limit == nil {
      Terminal.complain("\(found.all - found.shown) more; --all lists them")
    }
  }

  private func list(
    _ photos: PhotoCatalogue, as form: any PhotoForm, on output: Output
  ) throws -> (shown: Int, all: Int) {
    let most = all ? Int.max : limit ?? 100
    var query = query
    var shown = 0
    try output.put(form.beginning)
    while shown < most {
      query.limit = min(Self.page, most - shown)
      let page = try photos.query(query)
      for photo in page.photos {
        try output.put(form.text(photo, isFirst: shown == 0))
        shown += 1
      }
      guard let next = page.next, !page.photos.isEmpty else { break }
      query.cursor = next
    }
    try output.put(form.end(isEmpty: shown == 0))
    let isCut = shown == most && form.isForPeople && limit == nil
    return (shown, isCut ? Int(try photos.count(self.query)) : shown)
  }

  private var form: any PhotoForm {
    if arguments.json { return PhotoArray() }
    if jsonLines { return PhotoLines() }
    return csv ? PhotoSheet() : PhotoTable()
  }

  private var query: PhotoQuery {
    var query = PhotoQuery()
    query.from = from?.seconds.lowerBound
    query.to = to?.seconds.upperBound
    query.filename = name
    query.isStarred = starred
    query.backup = status.flatMap(BackupStatus.init(rawValue:))
    query.shard = shard.flatMap(Shard.Index.init(digit:))
    query.order = PhotoQuery.Order(rawValue: order.rawValue) ?? .md5
    query.isDescending = descending
    return query
  }
}
