import ArgumentParser
import Satchel

/// `satchel photos query`: lists the photos that match a filter.
struct PhotoQueryCommand: ParsableCommand {
  enum Order: String, ExpressibleByArgument, CaseIterable {
    case md5, photodate, filename
  }

  static let configuration = CommandConfiguration(
    commandName: "query",
    abstract: "List or count photos by date, place, camera, folder, name, star or backup.",
    discussion: """
      Prints a table of the first 100 matching photos; --limit and --all change the number. The number of \
      further photos is printed to the standard error. --by prints a table of counts instead.

      Times are those on the wall where each photo was taken, and in UTC where that is not known; --clock \
      names another clock. Unix seconds, and times with a time zone, are moments: then all are.

        satchel photos query guide.satchel ~/Pictures --from 2024-01 --to 2024-03 --order photodate
        satchel photos query guide.satchel ~/Pictures --name 'IMG_*.jpg' --starred
        satchel photos query guide.satchel ~/Pictures --near 47.37,8.54,5000 --camera 'X100V'
        satchel photos query guide.satchel ~/Pictures --folder trips --by month
        satchel photos query guide.satchel ~/Pictures --status error --json
        satchel photos query guide.satchel ~/Pictures --all --csv > photos.csv

      --json prints an array on one line; --json-lines an object for each photo; --csv a header and a line \
      for each photo (RFC 4180; times are Unix seconds, as in JSON).

      Exit codes: 0 listed; 1 no photo matches; 2 could not run.
      """)

  @OptionGroup var arguments: PhotoArguments

  @Option(
    parsing: .unconditional,
    help: ArgumentHelp("Taken at this time or later: \(PhotoDate.help)", valueName: "time"),
    transform: PhotoDate.init)
  var from: PhotoDate?

  @Option(
    parsing: .unconditional,
    help: ArgumentHelp("Taken at this time or earlier: \(PhotoDate.help)", valueName: "time"),
    transform: PhotoDate.init)
  var to: PhotoDate?

  @Option(
    help: ArgumentHelp(
      "The clock of dates: local, utc, or a time zone such as Europe/Berlin.", valueName: "clock"),
    transform: PhotoClock.init)
  var clock: PhotoClock?

  @Option(help: ArgumentHelp("Only photos of this model of a camera.", valueName: "model"))
  var camera: String?

  @Option(
    help: ArgumentHelp(
      "Only photos with a file in this folder of the directory, or below it.", valueName: "path"))
  var folder: String?

  @Option(
    parsing: .unconditional,
    help: ArgumentHelp(
      "Only photos taken within metres of a position.", valueName: "latitude,longitude,metres"),
    transform: { try PhotoPlace.near($0) })
  var near: PhotoPlace?

  @Option(
    parsing: .unconditional,
    help: ArgumentHelp("Only photos taken in a box, in degrees.", valueName: "south,west,north,east"),
    transform: { try PhotoPlace.box($0) })
  var box: PhotoPlace?

  @Flag(inversion: .prefixedNo, help: "Only photos with a file here, or without.")
  var present: Bool?

  @Option(
    help: ArgumentHelp(
      "Count photos by \(Self.groups.joined(separator: ", ")).", valueName: "group"),
    completion: .list(Self.groups))
  var by: PhotoGroup?

  @Option(
    help: ArgumentHelp(
      #"Only photos with this file name; * and ? are wildcards, \ escapes them."#, valueName: "pattern"))
  var name: String?

  @Flag(inversion: .prefixedNo, help: "Only photos with a star, or without.")
  var starred: Bool?

  @Option(
    help: ArgumentHelp(
      "Only photos with this backup status: \(Self.statuses.joined(separator: ", ")).",
      valueName: "status"),
    completion: .list(Self.statuses))
  var status: String?

  @Option(help: ArgumentHelp("Only photos of this shard, 0 to f.", valueName: "digit"))
  var shard: String?

  @Option(help: "The sort key.")
  var order = Order.md5

  @Flag(help: "Sort in descending order.")
  var descending = false

  @Option(help: ArgumentHelp("The maximum number of photos.", valueName: "n"))
  var limit: Int?

  @Flag(help: "List all matching photos.")
  var all = false

  @Flag(help: "Print a JSON object on a line for each photo.")
  var jsonLines = false

  @Flag(help: "Print CSV with a header line.")
  var csv = false

  private static let groups = PhotoGroup.allCases.map(\.rawValue)
  private static let statuses = BackupStatus.allCases.map(\.rawValue)

  /// The number of photos in one page of a query.
  private static let pageSize = 1000

  func validate() throws {
    if let limit, limit < 1 { throw ValidationError("--limit: \(limit) is less than 1") }
    if limit != nil, all { throw ValidationError("--limit and --all exclude each other") }
    if [arguments.json, jsonLines, csv].filter({ $0 }).count > 1 {
      throw ValidationError("--json, --json-lines and --csv exclude each other")
    }
    if let status, BackupStatus(rawValue: status) == nil {
      let names = Self.statuses.joined(separator: ", ")
      throw ValidationError("--status: \(status.printable) is not one of \(names)")
    }
    if let shard, Shard.Index(digit: shard) == nil {
      throw ValidationError("--shard: \(shard.printable) is not a digit from 0 to f")
    }
    if near != nil, box != nil { throw ValidationError("--near and --box exclude each other") }
    if by != nil, jsonLines || csv || limit != nil || all {
      throw ValidationError("--by excludes --json-lines, --csv, --limit and --all")
    }
    let hasMoment = [from, to].contains { $0?.isOnWall == false }
    if let clock, clock != .utc, hasMoment {
      throw ValidationError(
        "--clock: Unix seconds, and times with a time zone, are on no other clock than utc")
    }
    if let from, let to, from.seconds.lowerBound > to.seconds.upperBound {
      throw ValidationError("--from is later than --to")
    }
  }

  func run() throws {
    let output = try Output()
    if let by {
      try count(by: by, on: output)
      return try output.finish()
    }
    let format = format
    let found = try arguments.withCatalogue { try list($0, as: format, on: output) }
    try output.finish()
    if found.shown == 0 {
      if format.isHumanReadable { Terminal.printError("no photo matches") }
      throw Terminal.attention
    }
    if found.shown < found.all, format.isHumanReadable, limit == nil {
      Terminal.printError("\(found.all - found.shown) more; --all lists them")
    }
  }

  private func count(by group: PhotoGroup, on output: Output) throws {
    let counts = try arguments.withCatalogue { try $0.counts(by: group, query) }
    if arguments.json {
      try output.put(JSONValue.array(counts.map(\.json)).plainText + "\n")
    } else {
      let rows = counts.map { ["\($0.photos)", $0.key.map { $0.isEmpty ? "." : $0 } ?? "unknown"] }
      try output.put(Terminal.numericTable([["photos", group.rawValue]] + rows) + "\n")
    }
    if counts.isEmpty { throw Terminal.attention }
  }

  private func list(
    _ photos: PhotoCatalogue, as format: any PhotoFormat, on output: Output
  ) throws -> (shown: Int, all: Int) {
    let limit = all ? Int.max : self.limit ?? 100
    var query = query
    var shown = 0
    try output.put(format.header)
    while shown < limit {
      query.limit = min(Self.pageSize, limit - shown)
      let page = try photos.query(query)
      for photo in page.photos {
        try output.put(format.text(photo, isFirst: shown == 0))
        shown += 1
      }
      guard let next = page.next, !page.photos.isEmpty else { break }
      query.cursor = next
    }
    try output.put(format.footer)
    let isTruncated = shown == limit && format.isHumanReadable && self.limit == nil
    return (shown, isTruncated ? Int(try photos.count(self.query)) : shown)
  }

  private var format: any PhotoFormat {
    if arguments.json { return JSONPhotoFormat() }
    if jsonLines { return JSONLinesPhotoFormat() }
    return csv ? CSVPhotoFormat() : TablePhotoFormat()
  }

  private var query: PhotoQuery {
    var query = PhotoQuery()
    query.from = from?.seconds.lowerBound
    query.to = to?.seconds.upperBound
    query.clock = clock ?? ([from, to].contains { $0?.isOnWall == false } ? .utc : .local)
    (query.camera, query.folder, query.place, query.isPresent) = (camera, folder, near ?? box, present)
    query.filename = name
    query.isStarred = starred
    query.backup = status.flatMap(BackupStatus.init(rawValue:))
    query.shard = shard.flatMap(Shard.Index.init(digit:))
    query.order = PhotoQuery.Order(rawValue: order.rawValue) ?? .md5
    query.isDescending = descending
    return query
  }
}

extension PhotoGroup: ExpressibleByArgument {}

extension PhotoPlace {
  /// - Parameter text: "47.37,8.54,5000": latitude, longitude and metres
  fileprivate static func near(_ text: String) throws -> PhotoPlace {
    let parts = try numbers(text, 3)
    return .near(latitude: parts[0], longitude: parts[1], metres: parts[2])
  }

  /// - Parameter text: "46,5.5,48,10.5": south, west, north and east
  fileprivate static func box(_ text: String) throws -> PhotoPlace {
    let parts = try numbers(text, 4)
    return .box(south: parts[0], west: parts[1], north: parts[2], east: parts[3])
  }

  private static func numbers(_ text: String, _ count: Int) throws -> [Double] {
    let numbers = text.split(separator: ",", omittingEmptySubsequences: false).compactMap { Double($0) }
    guard numbers.count == count, text.filter({ $0 == "," }).count == count - 1 else {
      throw ValidationError("\(text.printable): not \(count) numbers with commas between them")
    }
    return numbers
  }
}
