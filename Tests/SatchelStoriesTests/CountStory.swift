import SatchelStories

/// A story of plain segments by number, for counting.
struct CountStory {
  private var text = Array(
    """
    {"id":"t","title":"T","author":"A","synopsis":"S","coverImageName":"c","estimatedReadingMinutes":1,\
    "ageRange":"5-8","tags":[],"isPurchased":false,"segments":[
    """.utf8)
  private var segments = 0
  private var choices = 0

  mutating func add(to targets: [Int], isEnding: Bool = false) {
    if segments > 0 { text.append(UInt8(ascii: ",")) }
    text +=
      "{\"id\":\"s\(segments)\",\"text\":\"x\",\"isAuthenticPath\":true,\"isEnding\":\(isEnding),\"choices\":["
      .utf8
    for (index, target) in targets.enumerated() {
      if index > 0 { text.append(UInt8(ascii: ",")) }
      text += "{\"id\":\"c\(choices)\",\"text\":\"t\(choices)\",\"nextSegmentId\":\"s\(target)\"}".utf8
      choices += 1
    }
    text += "]}".utf8
    segments += 1
  }

  /// Creates a segment for each list of targets; a segment without targets is an ending.
  init(_ targets: [[Int]] = []) {
    for list in targets { add(to: list, isEnding: list.isEmpty) }
  }

  var json: [UInt8] { text + Array("]}".utf8) }

  func read() throws -> Story { try Story(json, source: .json) }

  /// Creates a chain.
  static func chain(_ count: Int) -> CountStory {
    var story = CountStory()
    for index in 0..<count {
      story.add(to: index + 1 < count ? [index + 1] : [], isEnding: index + 1 == count)
    }
    return story
  }

  /// Creates a chain of diamonds: two paths that meet again.
  static func diamonds(_ count: Int) -> CountStory {
    var story = CountStory()
    for index in 0..<count {
      story.add(to: [3 * index + 1, 3 * index + 2])
      story.add(to: [3 * index + 3])
      story.add(to: [3 * index + 3])
    }
    story.add(to: [], isEnding: true)
    return story
  }
}
