import Foundation
import Satchel
import SatchelTesting
import Synchronization
import Testing

@Suite("Killed downloads of offline regions")
struct RegionKillTests {
  private static let (places, entities, pictures) = (20, 100, 30)

  /// 2,000 entities, of which 600 have a picture.
  private static func source(_ before: @escaping @Sendable (String) -> Void) throws -> LoggingSource {
    let source = RegionSource()
    for number in 0..<places {
      let items = (0..<entities).map { entity in
        let image = entity < pictures ? #","image":{"_asset":{"url":"\#(City.url(number, entity))"}}"# : ""
        return
          #"{"local_name":"Dish \#(number) \#(entity)"\#(image),\#(tag("food:\(number)_\(entity)", "sublocality"))}"#
      }
      source.set(
        try City.location(number),
        #"[{"section":"food","content":{"items":[\#(items.joined(separator: ","))]}}]"#)
      for entity in 0..<pictures { source.set(City.url(number, entity), City.picture(number, entity)) }
    }
    return LoggingSource(source: source, before: before)
  }

  private struct LoggingSource: ContentSource {
    let source: RegionSource
    let before: @Sendable (String) -> Void

    func content(_ request: ContentRequest) throws -> ContentAnswer {
      before(request.location.keys[0].text)
      return try source.content(request)
    }

    func asset(_ request: AssetRequest, into writer: AssetWriter) throws -> AssetResponse {
      before(request.url)
      return try source.asset(request, into: writer)
    }
  }

  /// Appends lines to a file, each by one call of the system.
  private final class Log: Sendable {
    private let descriptor: Int32

    init(_ path: String) { descriptor = open(path, O_WRONLY | O_CREAT | O_APPEND, 0o644) }

    func add(_ line: String) {
      let bytes = Array((line + "\n").utf8)
      _ = write(descriptor, bytes, bytes.count)
    }
  }

  /// The other process: downloads the region, and kills itself at some request or report of progress.
  @Test("A process that downloads a region")
  func downloader() throws {
    guard let (name, folder) = OtherProcess.role("downloader") else { return }
    let log = Log(folder + "/log")
    log.add("run \(name)")
    let left = Mutex(Int.random(in: 1...18))
    @Sendable func count() {
      let isOver = left.withLock { left in
        left -= 1
        return left <= 0
      }
      if isOver { kill(getpid(), SIGKILL) }
    }
    let isInSource = Int.random(in: 0...1) == 0
    let source = try Self.source { asked in
      log.add("ask \(pthread_self()) \(asked)")
      if isInSource { count() }
    }
    var options = StoreOptions()
    options.durability = .relaxed
    let store = try Store(path: folder + "/store", options: options)
    let region = try store.catalogue.regions.create("city", City.region(0..<Self.places))
    let report = try region.download(
      from: source,
      progress: { now in
        log.add("progress \(now.itemsDone) \(now.bytesDone)")
        if !isInSource { count() }
        return true
      })
    #expect(report.state == .complete)
    try store.close()
  }

  @Test(
    "A download that is killed fifty times is complete at the end, and fetches nothing twice but what was in flight"
  )
  func killed() throws {
    guard OtherProcess.role("downloader") == nil else { return }
    let directory = try TemporaryDirectory()
    var (kills, isDone) = (0, false)
    for run in 0..<400 where !isDone {
      isDone = try OtherProcess("RegionKillTests/downloader", "downloader", "\(run)", directory.path).finish()
      if !isDone { kills += 1 }
    }
    #expect(isDone && kills >= 50, "\(kills) kills")

    // A request is done when its thread has made the next one: only the last of each thread may have been in flight.
    var done: Set<String> = []
    var (last, asked, progress): ([String: String], Int, [Int64]) = ([:], 0, [0, 0])
    for line in try String(contentsOfFile: directory.path + "/log", encoding: .utf8).split(separator: "\n") {
      let words = line.split(separator: " ").map(String.init)
      switch words[0] {
      case "run": last = [:]
      case "ask":
        asked += 1
        if let before = last[words[1]] { done.insert(before) }
        last[words[1]] = words[2]
        #expect(!done.contains(words[2]), "\(words[2]) was fetched twice")
      default:
        let now = words.dropFirst().compactMap { Int64($0) }
        #expect(now[0] >= progress[0] && now[1] >= progress[1], "progress \(progress) went back to \(now)")
        progress = now
      }
    }
    #expect(asked >= 620 && asked <= 620 + kills * 4)

    let store = try Store(path: directory.path + "/store")
    defer { try? store.close() }
    let size = try #require(try store.catalogue.regions["city"]).estimate()
    #expect(size.entities == 2000 && size.assets == 600 && size.requestsLeft == 0)
    #expect(progress == [620, size.totalBytes])
    #expect(try store.check().isEmpty)
  }
}
