import Foundation
import Satchel
import SatchelTesting
import Testing

/// A temporary directory of stories and a store.
final class LibraryFixture {
  private let place: TemporaryDirectory
  var folder: URL { place.url }
  var stories: URL { folder.appending(path: "stories") }
  var store: String { folder.appending(path: "store.satchel").path }
  private(set) var satchel: Store

  static let examples = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent().appending(path: "Examples/Stories")

  /// - Parameter examples: whether to copy the stories of Examples/Stories
  init(examples: Bool = false) throws {
    place = try TemporaryDirectory()
    try FileManager.default.createDirectory(
      at: place.url.appending(path: "stories"), withIntermediateDirectories: false)
    satchel = try Self.open(place.url.appending(path: "store.satchel").path)
    guard examples else { return }
    for file in try FileManager.default.contentsOfDirectory(
      at: Self.examples, includingPropertiesForKeys: nil)
    where file.pathExtension == "json" {
      try FileManager.default.copyItem(at: file, to: stories.appending(path: file.lastPathComponent))
    }
  }

  deinit { try? satchel.close() }

  static func open(_ path: String, readOnly: Bool = false) throws -> Store {
    var options = StoreOptions()
    options.durability = .relaxed
    options.isReadOnly = readOnly
    return try Store(path: path, options: options)
  }

  /// Opens another handle on the same store.
  func another(readOnly: Bool = false) throws -> Store { try Self.open(store, readOnly: readOnly) }

  func reopen() throws {
    try satchel.close()
    satchel = try Self.open(store)
  }

  func library() throws -> StoryLibrary { try satchel.stories(in: stories.path) }

  func url(_ name: String) -> URL { stories.appending(path: name) }

  func put(_ name: String, _ text: String) throws { try Data(text.utf8).write(to: url(name)) }

  func remove(_ name: String) throws { try FileManager.default.removeItem(at: url(name)) }

  /// Waits until the files are older than the timestamp resolution: the next refresh reads newer files again.
  func settle() throws {
    usleep(110_000)
  }

  /// Returns a sound story of two segments.
  static func story(
    _ id: String, title: String? = nil, synopsis: String = "Nothing much.", culture: String = "None",
    age: String = "5-8", tags: [String] = ["tale"], minutes: Int = 1, purchased: Bool = false,
    segments: Int = 2
  ) -> String {
    let tags = tags.map { "\"\($0)\"" }.joined(separator: ",")
    var text = """
      {"id":"\(id)","title":"\(title ?? id)","author":"A","originalSource":null,"culturalOrigin":"\(culture)",
      "synopsis":"\(synopsis)","coverImageName":"c","estimatedReadingMinutes":\(minutes),"ageRange":"\(age)",
      "tags":[\(tags)],"isPurchased":\(purchased),"segments":[
      """
    for number in 0..<segments {
      let isLast = number == segments - 1
      let choice = #"{"id":"c\#(number)","text":"on","nextSegmentId":"s\#(number + 1)"}"#
      text += """
        {"id":"s\(number)","text":"A few words in segment \(number).","isAuthenticPath":true,\
        "isEnding":\(isLast),"choices":[\(isLast ? "" : choice)]}\(isLast ? "" : ",")
        """
    }
    return text + "]}"
  }

  /// Returns a story whose only choice has a missing target.
  static func unsound(_ id: String) -> String {
    story(id).replacingOccurrences(of: "\"nextSegmentId\":\"s1\"", with: "\"nextSegmentId\":\"nowhere\"")
  }
}

/// The `SatchelError` that `body` throws; nil when it succeeds.
func failure(_ body: () throws -> some Any) -> SatchelError? {
  do {
    _ = try body()
    return nil
  } catch { return error as? SatchelError }
}
