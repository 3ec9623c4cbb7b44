// The documents of the planner. The names of fields are those of the other languages' planners: they share stores.

struct Semester: Codable {
  var name: String
}

/// A course until version 1; see `Planner`.
struct OldCourse: Codable {
  var semester: String
  var name: String

  enum CodingKeys: String, CodingKey { case semester = "semester_id", name }
}

struct Course: Codable {
  var semester: String
  var title: String
  var credits: Int

  enum CodingKeys: String, CodingKey { case semester = "semester_id", title, credits }
}

struct Task: Codable {
  var course: String
  var title: String
  var due: String?

  enum CodingKeys: String, CodingKey { case course = "course_id", title, due }
}

struct Grade: Codable {
  var course: String
  var points: Int

  enum CodingKeys: String, CodingKey { case course = "course_id", points }
}

struct Event: Codable {
  var course: String
  var title: String
  var roomKey: String

  enum CodingKeys: String, CodingKey { case course = "course_id", title, roomKey = "room_key" }
}

struct Activity: Codable {
  var task: String?
  var minutes: Int

  enum CodingKeys: String, CodingKey { case task = "task_id", minutes }
}
