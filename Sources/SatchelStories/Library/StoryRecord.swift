import CUTF8Proc
import SatchelCore
import SatchelJSON
import SatchelStorage

/// The row of a file in the index: an object, since a refresh collects many of them in arrays that grow.
final class StoryRecord: Sendable {
  enum Content: Sendable {
    /// A story; its `isPurchased` is the value in the file.
    case story(StorySummary)
    case problem(StoryFailure)
  }

  let name: String
  let metadata: FileMetadata
  /// The SHA-256 of the content; nil for a file that could not be read.
  let hash: [UInt8]?
  let content: Content

  init(name: String, metadata: FileMetadata, hash: [UInt8]?, content: Content) {
    (self.name, self.metadata, self.hash, self.content) = (name, metadata, hash, content)
  }

  /// The id of its story.
  var story: String? {
    if case .story(let summary) = content { summary.id } else { nil }
  }
}

extension StoryRecord.Content {
  /// The maximum size of a header in bytes, because every listing of the library loads it.
  private static let maxHeaderBytes = 16 << 20

  /// Parses and checks a story's text.
  init(_ text: UnsafeRawBufferPointer, of file: String, source: StorySource) {
    do {
      let analysis = StoryAnalysis(try source.table(of: text))
      self = Self.content(analysis, file)
    } catch {
      self = .problem(StoryFailure(parsing: error))
    }
  }

  private static func content(_ analysis: StoryAnalysis, _ file: String) -> StoryRecord.Content {
    let header = StoryHeader(analysis.table)
    guard let id = analysis.storyID(in: file), StoryID.isName(id) else {
      let fault = analysis.table.faults.first { $0.segment < 0 && $0.field == .id }
      let finding = fault.flatMap { FindingFormatter(analysis, [$0]).findings().first }
      return .problem(finding.map { StoryFailure($0) } ?? StoryFailure(code: .invalidID, message: "no id"))
    }
    let texts = [
      header.title, header.author, header.originalSource, header.culturalOrigin, header.synopsis,
      header.coverImageName, header.ageRange, header.language,
    ]
    let bytes = (texts.compactMap(\.self) + header.tags).reduce(analysis.table.extraBytes) {
      $0 + $1.utf8.count + 16
    }
    guard bytes <= maxHeaderBytes else {
      return .problem(StoryFailure(code: .notAStory, message: "its header is larger than 16 MiB"))
    }
    let report = StoryReport(analysis)
    var summary = StorySummary(id: id, file: file, header: header, statistics: report.statistics)
    summary.errors = report.errorCount
    summary.warnings = report.warningCount
    summary.namedFiles = analysis.table.namedFiles.count
    return .story(summary)
  }
}

extension StoryAnalysis {
  /// Returns the id of the story in a library: its own, or for Twee, which has no ids, the file's name
  /// without the folder and the extension.
  func storyID(in file: String) -> String? {
    guard table.isImported else { return table.string(.id) }
    let name = file.suffix(from: file.lastIndex(of: "/").map { file.index(after: $0) } ?? file.startIndex)
    return String(name.prefix(upTo: name.lastIndex(of: ".") ?? name.endIndex))
  }
}

/// Computes the sort key of titles, which ignores case and diacritics.
enum TitleKey {
  /// The maximum number of scalars in a key, because utf8proc takes quadratic time in the length of a run of
  /// marks.
  private static let maxScalars = 256

  static func key(of title: String) -> String {
    let text = Array(String(String.UnicodeScalarView(title.unicodeScalars.prefix(maxScalars))).utf8)
    let options = [
      UTF8PROC_STABLE, UTF8PROC_COMPAT, UTF8PROC_DECOMPOSE, UTF8PROC_CASEFOLD, UTF8PROC_STRIPMARK,
      UTF8PROC_IGNORE,
    ].reduce(0) { $0 | $1.rawValue }
    var folded: UnsafeMutablePointer<UInt8>?
    let count = utf8proc_map(text, text.count, &folded, utf8proc_option_t(options))
    defer { free(folded) }
    guard count >= 0, let folded else { return title }
    return String(decoding: UnsafeBufferPointer(start: folded, count: count), as: UTF8.self)
  }
}
